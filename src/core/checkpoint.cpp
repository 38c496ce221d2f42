// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/checkpoint.h"

#include <algorithm>
#include <tuple>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kLightningSuffix = ".ckpt", kStepMark = "step=";

bool is_lightning_name(std::string_view name) { return name.ends_with(kLightningSuffix); }

struct Ranked {
  std::optional<std::uint64_t> step;
  CheckpointEntry entry;
};

bool is_newer(const Ranked& a, const Ranked& b) {
  const auto rank = [](const Ranked& ranked) {
    return std::tuple(ranked.step, ranked.entry.modified_ns, std::string_view(ranked.entry.name));
  };
  return rank(a) > rank(b);
}

// last.ckpt has no step but often is the newest: it goes before the first that is older than it.
void place_by_time(std::vector<Ranked>& sorted, const std::vector<Ranked>& unnumbered) {
  auto at = sorted.begin();
  for (const auto& ranked : unnumbered) {
    at = std::find_if(at, sorted.end(), [&](const Ranked& other) {
      return other.entry.modified_ns < ranked.entry.modified_ns;
    });
    at = std::next(sorted.insert(at, ranked));
  }
}

}  // namespace

std::optional<std::uint64_t> step_of(std::string_view name) {
  if (is_lightning_name(name)) {
    const auto at = name.rfind(kStepMark);
    if (at == std::string_view::npos) return std::nullopt;
    name.remove_prefix(at + kStepMark.size());
    return take_unsigned(name);
  }
  const auto last = name.find_last_not_of("0123456789");
  return parse_unsigned(last == std::string_view::npos ? name : name.substr(last + 1));
}

void sort_newest_first(std::vector<CheckpointEntry>& entries) {
  std::vector<Ranked> sorted, unnumbered;
  for (auto& entry : entries) {
    const auto step = step_of(entry.name);
    auto& to = !step && is_lightning_name(entry.name) ? unnumbered : sorted;
    to.push_back({step, std::move(entry)});
  }
  std::sort(sorted.begin(), sorted.end(), is_newer);
  std::sort(unnumbered.begin(), unnumbered.end(), is_newer);
  place_by_time(sorted, unnumbered);
  entries.clear();
  for (auto& ranked : sorted) entries.push_back(std::move(ranked.entry));
}

std::vector<CheckpointEntry> CheckpointJudge::candidates() const {
  auto entries = files_.list("");
  std::erase_if(entries, [](const CheckpointEntry& entry) {
    return starts_with(entry.name, ".") || (!entry.is_directory && !is_lightning_name(entry.name));
  });
  sort_newest_first(entries);
  return entries;
}

const std::optional<std::string>& CheckpointJudge::tracker(std::string_view name) const {
  for (const auto& known : trackers_)
    if (known.name == name) return known.text;
  auto text = read_text(files_, std::string(name));
  if (text) text = std::string(trim(*text));
  trackers_.push_back({name, std::move(text)});
  return trackers_.back().text;
}

CheckpointFormat CheckpointJudge::recognise(const CheckpointEntry& entry) const {
  if (is_lightning_name(entry.name)) return CheckpointFormat::kLightning;
  if (files_.size_of(entry.name + "/" + std::string(kManifestName)))
    return CheckpointFormat::kManifest;
  if (is_iteration_name(entry.name) || (entry.name == "release" && tracker(kMegatronTracker)))
    return CheckpointFormat::kMegatron;
  bool has_states = false, has_shards = false, has_trainer = false;
  for (const auto& file : files_.list(entry.name)) {
    has_states |= is_deepspeed_file(file.name);
    has_shards |= file.name == ".metadata" || file.name.ends_with(".distcp");
    has_trainer |= file.name == "trainer_state.json";
  }
  if (has_states) return CheckpointFormat::kDeepSpeed;
  if (is_hugging_face_name(entry.name) && (has_trainer || !has_shards))
    return CheckpointFormat::kHuggingFace;
  if (has_shards) return CheckpointFormat::kTorchDcp;
  return starts_with(entry.name, "global_step") && tracker(kDeepSpeedTracker)
             ? CheckpointFormat::kDeepSpeed
             : CheckpointFormat::kManifest;
}

CheckpointFormat CheckpointJudge::format_of(const CheckpointEntry& entry) const {
  return format_ == CheckpointFormat::kAuto ? recognise(entry) : format_;
}

std::optional<std::string> CheckpointJudge::defect_of(const CheckpointEntry& entry) const {
  const auto format = format_of(entry);
  if (format == CheckpointFormat::kLightning) return lightning_defect(files_, entry);
  if (!entry.is_directory) return "a file; " + std::string(name_of(format)) + " has directories";
  switch (format) {
    case CheckpointFormat::kTorchDcp: return torch_dcp_defect(files_, entry.name);
    case CheckpointFormat::kDeepSpeed:
      return deepspeed_defect(files_, entry.name, tracker(kDeepSpeedTracker));
    case CheckpointFormat::kMegatron:
      return megatron_defect(files_, entry.name, tracker(kMegatronTracker));
    case CheckpointFormat::kHuggingFace: return hugging_face_defect(files_, entry.name);
    default: return manifest_defect(files_, entry.name);
  }
}

std::optional<std::string> newest_complete(const CheckpointFiles& files, CheckpointFormat format) {
  const CheckpointJudge judge(files, format);
  for (const auto& entry : judge.candidates())
    if (!judge.defect_of(entry)) return entry.name;
  return std::nullopt;
}

}  // namespace acrf
