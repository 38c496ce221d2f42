// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/gpu_rules.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::int64_t kClearAfter_s = 600;
constexpr std::string_view kHeader = "acrf-gpu-rules 1";

// What the driver itself says is over when the driver says so; what is counted may flicker.
std::int64_t clear_after_s(std::string_view fault_class) {
  const bool drivers_word = fault_class == "gpu_lost" || fault_class == "gpu_reset_required" ||
                            fault_class == "recovered" || starts_with(fault_class, "recovery_");
  return drivers_word ? 0 : kClearAfter_s;
}

// Heat or lack of power that several GPUs of a node share is no GPU's fault: a quarter of them, and
// at least two.
void excuse_shared_heat(Charges& charges, std::size_t suffering, std::size_t all) {
  if (suffering < 2 || suffering * 4 < all) return;
  for (auto& charge : charges) {
    if (!starts_with(charge.verdict.fault_class, "hw_slowdown") &&
        !starts_with(charge.verdict.fault_class, "temperature_limit"))
      continue;
    charge.verdict = {"cooling_or_power", Severity::kWarning, Scope::kNode, Action::kWatch};
    charge.evidence = std::to_string(suffering) + " of " + std::to_string(all) +
                      " GPUs are too hot or held down by the hardware at once";
  }
}

}  // namespace

std::vector<GpuFinding> GpuRules::look(const std::string& source,
                                       const std::vector<GpuSample>& samples, std::int64_t now_s) {
  std::vector<GpuFinding> findings;
  std::set<std::string> seen;
  std::vector<std::pair<std::string, Charges>> charged;
  std::size_t suffering = 0;
  auto& looks = looks_[source];
  looks.clear();
  for (const auto& sample : samples) {
    const auto identity = identity_of(sample);
    if (identity.empty()) continue;  // says nothing about anybody
    const auto key = source + " " + identity;
    seen.insert(key);
    Gpu& gpu = gpus_[key];
    gpu.address = sample.address;
    gpu.uuid = sample.uuid;
    charged.emplace_back(key, charges_of(gpu, sample, now_s));
    suffering += gpu.thermal.suffers() ? 1 : 0;
    looks.push_back({sample.address,
                     sample.uuid,
                     sample.lost,
                     gpu.thermal.suffers(),
                     sample.power_limit_mw,
                     {}});
  }
  for (std::size_t i = 0; i < charged.size(); ++i) {
    auto& [key, charges] = charged[i];
    excuse_shared_heat(charges, suffering, charged.size());
    for (const auto& charge : charges)
      if (charge.verdict.action != Action::kIgnore) looks[i].held.push_back(charge.verdict);
    latch(key, gpus_.at(key), charges, now_s, findings);
  }
  look_for_missing(source, seen, now_s, findings);
  return findings;
}

Charges GpuRules::charges_of(Gpu& gpu, const GpuSample& sample, std::int64_t now_s) {
  Charges charges;
  gpu.missing.update(now_s, false);
  gpu.presence.look(sample, now_s, charges);
  gpu.xids.look(sample, now_s, charges);
  if (sample.lost || sample.suspended) return charges;
  gpu.memory.look(sample, now_s, charges);
  gpu.nvlink.look(sample, now_s, charges);
  gpu.pcie.look(sample, now_s, charges);
  gpu.thermal.set_times(heat_times_);
  gpu.thermal.look(sample, now_s, charges);
  gpu.recovery.look(sample, now_s, charges);
  gpu.blocks.look(sample, now_s, charges);
  gpu.watches.look(sample, now_s, charges);
  return charges;
}

void GpuRules::latch(const std::string& key, const Gpu& gpu, const Charges& charges,
                     std::int64_t now_s, std::vector<GpuFinding>& findings) {
  for (const auto& charge : charges) {
    const auto [held, is_new] = last_held_.try_emplace({key, charge.verdict.fault_class}, now_s);
    const bool was_over = now_s - held->second > kClearAfter_s;  // while nobody looked
    held->second = now_s;
    if (is_new || was_over)
      findings.push_back({charge.verdict, gpu.address, gpu.uuid, charge.evidence, charge.xid});
  }
  const auto first = last_held_.lower_bound({key, ""});
  for (auto held = first; held != last_held_.end() && held->first.first == key;)
    held = now_s - held->second > clear_after_s(held->first.second) ? last_held_.erase(held)
                                                                    : std::next(held);
}

// A GPU that a source no longer lists, though it still lists others: with all of them gone, it is
// the driver that went.
void GpuRules::look_for_missing(const std::string& source, const std::set<std::string>& seen,
                                std::int64_t now_s, std::vector<GpuFinding>& findings) {
  if (seen.empty()) return;
  const std::string prefix = source + " ";
  for (auto at = gpus_.lower_bound(prefix); at != gpus_.end() && starts_with(at->first, prefix);
       ++at) {
    auto& [key, gpu] = *at;
    if (seen.count(key) != 0 || gpu.uuid.empty()) continue;
    if (!gpu.missing.update(now_s, true)) continue;
    // A lost GPU is not listed by a driver that was asked anew: that is no second fault.
    if (const auto lost = last_held_.find({key, classify_lost_gpu().fault_class});
        lost != last_held_.end()) {
      lost->second = now_s;
      continue;
    }
    // DCGM may leave out a GPU that the driver still has.
    const Verdict verdict =
        source == "dcgm" ? Verdict{"gpu_missing", Severity::kWarning, Scope::kGpu, Action::kWatch}
                         : Verdict{"gpu_missing", Severity::kFatal, Scope::kGpu, Action::kDrain};
    latch(key, gpu, {{verdict, source + " does not list the GPU any more"}}, now_s, findings);
  }
}

std::string GpuRules::to_text(std::string_view boot_id) const {
  std::string text = std::string(kHeader) + "\nboot " + encode_word(boot_id) + "\n";
  for (const auto& [latch, unix_s] : last_held_)
    text += "told " + encode_word(latch.first) + " " + encode_word(latch.second) + " " +
            std::to_string(unix_s) + "\n";
  for (const auto& [key, gpu] : gpus_)
    for (const auto unix_s : gpu.memory.uncorrectable_unix_s())
      text += "uncorrectable " + encode_word(key) + " " + std::to_string(unix_s) + "\n";
  return text;
}

void GpuRules::take_text(std::string_view text, std::string_view boot_id) {
  const auto lines = split(text, '\n');
  if (lines.size() < 2 || lines[0] != kHeader) return;
  const bool same_boot = lines[1] == "boot " + encode_word(boot_id);
  for (std::size_t i = 2; i < lines.size(); ++i) take_line(lines[i], same_boot);
}

void GpuRules::take_line(std::string_view line, bool same_boot) {
  const auto words = split(line, ' ');
  if (words.size() < 3) return;
  const auto key = decode_word(words[1]);
  const auto unix_s = parse_unsigned(words.back());
  if (!key || !unix_s || *unix_s > INT64_MAX) return;
  if (words[0] == "told" && words.size() == 4 && same_boot) {
    if (const auto fault_class = decode_word(words[2]))
      last_held_[{*key, *fault_class}] = static_cast<std::int64_t>(*unix_s);
  } else if (words[0] == "uncorrectable" && words.size() == 3) {
    gpus_[*key].memory.remember_uncorrectable(static_cast<std::int64_t>(*unix_s));
  }
}

}  // namespace acrf
