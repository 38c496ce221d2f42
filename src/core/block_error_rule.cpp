// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/gpu_rule.h"

namespace acrf {
namespace {

constexpr std::uint64_t kCorrectedPerHour = 10'000;  // ours: watched only
// What amdgpu adds to its counts at each query of a card that sleeps.
constexpr std::uint64_t kSuspendArtefact = 1'048'560;

constexpr std::uint64_t kMemoryDegraded = 2;  // Level Zero
constexpr std::uint64_t kMemoryReplace = 4;

// Intel's counts of what programs and the driver did wrong, and of the resets that followed.
bool is_softwares(const std::string& block) {
  return block == "reset" || block == "programming" || block == "driver";
}

std::uint64_t without_artefact(std::uint64_t increase) {
  return increase % kSuspendArtefact == 0 ? 0 : increase;
}

}  // namespace

void BlockErrorRule::look(const GpuSample& sample, std::int64_t now_s, Charges& charges) {
  look_at_blocks(sample, now_s, charges);
  if (xgmi_.update(now_s, sample.xgmi_error.value_or(0) != 0))
    charges.push_back({{"xgmi_error", Severity::kCritical, Scope::kFabric, Action::kCheckFabric},
                       "xGMI errors in two readings in a row"});
  if (sample.vendor == "amd" && sample.retired_pages_pending.value_or(0) > 0)
    charges.push_back(
        {{"bad_page_pending", Severity::kCritical, Scope::kGpu, Action::kResetGpu, true},
         std::to_string(*sample.retired_pages_pending) +
             " bad pages wait for a reset to be taken out of use"});
  if (sample.retired_pages_failed.value_or(0) > 0)
    charges.push_back({{"bad_page_failed", Severity::kCritical, Scope::kGpu, Action::kDrain},
                       std::to_string(*sample.retired_pages_failed) +
                           " bad pages could not be taken out of use"});
  if (wedged_.update(now_s, sample.wedged.value_or(0) != 0))
    charges.push_back({{"gpu_wedged", Severity::kCritical, Scope::kGpu, Action::kResetGpu},
                       "the device is wedged until it is reset"});
  if (sample.repair_reset.value_or(0) != 0)
    charges.push_back(
        {{"gpu_repair_pending", Severity::kCritical, Scope::kGpu, Action::kResetGpu, true},
         "a reset would complete a repair"});
  const auto health = sample.memory_health.value_or(0);
  if (health == kMemoryReplace)
    charges.push_back({{"memory_replace", Severity::kCritical, Scope::kGpu, Action::kRma},
                       "the device asks for its memory to be replaced"});
  else if (health >= kMemoryDegraded)
    charges.push_back({{"memory_degraded", Severity::kWarning, Scope::kGpu, Action::kWatch},
                       "memory health " + std::to_string(health)});
}

void BlockErrorRule::look_at_blocks(const GpuSample& sample, std::int64_t now_s, Charges& charges) {
  std::string blamed;
  std::string softwares;
  std::uint64_t corrected = 0;
  for (const auto& reading : sample.blocks) {
    Block& block = blocks_[reading.name];
    corrected += without_artefact(block.corrected.increase(reading.corrected));
    const auto grown = without_artefact(block.uncorrected.increase(reading.uncorrected));
    if (grown == 0) continue;
    auto& names = is_softwares(reading.name) ? softwares : blamed;
    names += (names.empty() ? "" : ", ") + reading.name + " " + std::to_string(grown);
  }
  if (!softwares.empty())
    charges.push_back({{"ras_software", Severity::kWarning, Scope::kProcess, Action::kWatch},
                       "errors that programs or the driver made: " + softwares});
  if (!blamed.empty())
    charges.push_back({{"ras_uncorrectable", Severity::kCritical, Scope::kGpu, Action::kDrain},
                       "new uncorrectable errors: " + blamed});
  corrected_hours_.add(now_s, corrected);
  if (corrected_hours_.reaching(kCorrectedPerHour) > 0)
    charges.push_back(
        {{"ras_corrected_rate", Severity::kWarning, Scope::kGpu, Action::kWatch},
         "at least " + std::to_string(kCorrectedPerHour) + " corrected errors in an hour"});
}

}  // namespace acrf
