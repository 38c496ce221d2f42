// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/gpu_owner.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::int64_t kAfterEnd_s = 5 * 60;
constexpr std::int64_t kKept_s = 10 * 60;
constexpr std::size_t kMostUses = 4096;

bool is_same(const GpuUse& a, const GpuUse& b) { return a.job == b.job && a.since_s == b.since_s; }

bool concerns(const GpuUse& use, const PciAddress& gpu) {
  return use.has_all || std::find(use.gpus.begin(), use.gpus.end(), gpu) != use.gpus.end();
}

bool overlap(const GpuUse& a, const GpuUse& b) {
  if (a.has_all || b.has_all) return true;
  return std::any_of(a.gpus.begin(), a.gpus.end(),
                     [&](const PciAddress& gpu) { return concerns(b, gpu); });
}

bool lasts_at(const GpuUse& use, std::int64_t unix_s) {
  return use.since_s <= unix_s && (use.gone_s == 0 || unix_s <= use.gone_s);
}

// The one step that can be meant; extern runs nothing of the user's own.
std::string only_step(const GpuUse& use) {
  std::string step;
  for (const auto& one : use.steps) {
    if (one == "extern") continue;
    if (!step.empty()) return "";
    step = one;
  }
  return step;
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ",") + word;
  return text.empty() ? "-" : text;
}

std::optional<GpuUse> parse_use(std::string_view line) {
  const auto words = split(line, ' ');
  if (words.size() != 7) return std::nullopt;
  std::uint64_t numbers[5] = {};
  for (std::size_t i = 0; i < 5; ++i) {
    const auto number = parse_unsigned(words[i]);
    if (!number || *number > INT64_MAX) return std::nullopt;
    numbers[i] = *number;
  }
  GpuUse use{numbers[0],
             numbers[1],
             static_cast<std::int64_t>(numbers[2]),
             static_cast<std::int64_t>(numbers[3]),
             numbers[4] == 1,
             {},
             {}};
  for (auto word : split(words[5], ',')) {
    if (word == "-") break;
    const auto gpu = take_pci_address(word);
    if (!gpu || !word.empty()) return std::nullopt;
    use.gpus.push_back(*gpu);
  }
  if (words[6] != "-")
    for (const auto word : split(words[6], ',')) use.steps.emplace_back(word);
  return use;
}

// Takes "job_7/step_0" off the path of a group that Slurm made.
std::optional<GpuOwner> take_job(std::string_view path) {
  if (!take_prefix(path, "job_")) return std::nullopt;
  GpuOwner owner;
  const auto job = take_unsigned(path);
  if (!job || (!path.empty() && path.front() != '/')) return std::nullopt;
  owner.job = *job;
  if (take_prefix(path, "/step_")) owner.step = std::string(path.substr(0, path.find('/')));
  return owner;
}

// What Slurm calls its own group: "slurmstepd.scope", with several slurmds "n1_slurmstepd.scope".
bool is_scope(std::string_view name) {
  constexpr std::string_view kScope = "slurmstepd.scope";
  return name == kScope || (name.size() > kScope.size() &&
                            name.substr(name.size() - kScope.size() - 1) == "_slurmstepd.scope");
}

}  // namespace

// A use that was not seen to end has ended at the latest when another one of its GPUs began.
void GpuOwners::end_missing(const std::vector<GpuUse>& current, std::int64_t now_s) {
  for (auto& use : uses_) {
    if (use.gone_s != 0) continue;
    if (std::any_of(current.begin(), current.end(),
                    [&](const GpuUse& one) { return is_same(one, use); }))
      continue;
    use.gone_s = now_s;
    for (const auto& next : current)
      if (next.since_s >= use.since_s && overlap(use, next))
        use.gone_s = std::min(use.gone_s, next.since_s);
  }
}

void GpuOwners::update(const std::vector<GpuUse>& current, std::int64_t now_s) {
  end_missing(current, now_s);
  for (const auto& one : current) {
    const auto known = std::find_if(uses_.begin(), uses_.end(),
                                    [&](const GpuUse& use) { return is_same(use, one); });
    if (known == uses_.end()) {
      uses_.push_back(one);
      continue;
    }
    const auto steps = std::move(known->steps);
    *known = one;
    for (const auto& step : steps)
      if (std::find(known->steps.begin(), known->steps.end(), step) == known->steps.end())
        known->steps.push_back(step);
  }
  std::erase_if(uses_, [&](const GpuUse& use) {
    return use.gone_s != 0 && (use.gone_s < now_s - kKept_s || use.gone_s > now_s + kKept_s);
  });
  if (uses_.size() > kMostUses)
    uses_.erase(uses_.begin(), uses_.end() - static_cast<std::ptrdiff_t>(kMostUses));
}

std::optional<GpuOwner> GpuOwners::owner_at(const PciAddress& gpu, std::int64_t unix_s) const {
  const GpuUse* holder = nullptr;
  const GpuUse* last = nullptr;
  int holders = 0;
  bool is_shared_end = false;
  for (const auto& use : uses_) {
    if (!concerns(use, gpu)) continue;
    if (lasts_at(use, unix_s)) {
      holder = &use;
      ++holders;
    } else if (use.gone_s != 0 && use.gone_s < unix_s && unix_s - use.gone_s <= kAfterEnd_s) {
      is_shared_end = last && last->gone_s == use.gone_s;
      if (!last || use.gone_s > last->gone_s) last = &use;
    }
  }
  if (holders > 1 || (holders == 0 && (!last || is_shared_end))) return std::nullopt;
  const auto& use = holders == 1 ? *holder : *last;
  return GpuOwner{use.job, use.user, only_step(use)};
}

std::optional<std::uint64_t> GpuOwners::user_of(std::uint64_t job) const {
  for (const auto& use : uses_)
    if (use.job == job) return use.user;
  return std::nullopt;
}

std::string GpuOwners::to_text(std::string_view boot_id) const {
  std::string text = "boot " + std::string(boot_id) + "\n";
  for (const auto& use : uses_) {
    std::vector<std::string> gpus;
    for (const auto& gpu : use.gpus) gpus.push_back(to_string(gpu));
    for (const std::uint64_t number :
         {use.job, use.user, static_cast<std::uint64_t>(use.since_s),
          static_cast<std::uint64_t>(use.gone_s), std::uint64_t{use.has_all}})
      text += std::to_string(number) + " ";
    text += join(gpus) + " " + join(use.steps) + "\n";
  }
  return text;
}

void GpuOwners::take_text(std::string_view text, std::string_view boot_id) {
  const auto lines = split(text, '\n');
  if (lines.front() != "boot " + std::string(boot_id)) return;
  for (std::size_t i = 1; i < lines.size() && uses_.size() < kMostUses; ++i)
    if (auto use = parse_use(lines[i])) uses_.push_back(std::move(*use));
}

std::optional<GpuOwner> job_of_cgroup(std::string_view cgroup) {
  for (const auto line : split(cgroup, '\n')) {
    // "ID:CONTROLLERS:PATH"
    const auto colon = line.find(':', line.find(':') + 1);
    if (colon == std::string_view::npos) continue;
    auto path = line.substr(colon + 1);
    if (!take_prefix(path, "/")) continue;
    const auto first = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), first.size() + 1));
    const auto second = path.substr(0, path.find('/'));
    // Version 2: "/system.slice/slurmstepd.scope/job_7/..."; version 1:
    // "/slurm/uid_1000/job_7/...".
    const bool is_ours =
        first == "system.slice"
            ? is_scope(second)
            : (first == "slurm" || starts_with(first, "slurm_")) && starts_with(second, "uid_");
    if (!is_ours) continue;
    path.remove_prefix(std::min(path.size(), second.size() + 1));
    if (auto owner = take_job(path)) return owner;
  }
  return std::nullopt;
}

std::string describe_owner(const Event& event) {
  if (!event.job) return "";
  std::string text = "job " + std::to_string(*event.job);
  if (!event.step.empty()) text += " step " + event.step;
  if (event.user) text += " of user " + std::to_string(*event.user);
  return text;
}

}  // namespace acrf
