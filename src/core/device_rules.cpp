// SPDX-License-Identifier: GPL-2.0-or-later
// The rules about the device as a whole: presence, PCIe, heat, the driver's own verdict, hangs.
#include <algorithm>

#include "core/catalog.h"
#include "core/gpu_rule.h"

namespace acrf {
namespace {

constexpr std::uint64_t kBusyPercent = 20;  // below, links train down to save power
constexpr int kHangsToBelieve = 3;

// Replays per minute that a link of this generation and 16 lanes may have: DCGM's budget from a
// bit error rate of 1e-12, which scales with the lanes. Generations 1 and 2 have that of 3.
std::uint64_t replay_limit(std::uint64_t generation, std::uint64_t width) {
  constexpr std::uint64_t kPerMinute[] = {8, 16, 31, 62};
  const auto row = std::clamp<std::uint64_t>(generation, 3, 6) - 3;
  const auto lanes = std::clamp<std::uint64_t>(width, 1, 16);
  return (kPerMinute[row] * lanes + 15) / 16;
}

Verdict recovery_verdict(std::uint64_t action) {
  switch (action) {
    case 1: return {"recovery_reset", Severity::kCritical, Scope::kGpu, Action::kResetGpu};
    case 2: return {"recovery_reboot", Severity::kCritical, Scope::kNode, Action::kRebootNode};
    case 3: return {"recovery_drain_p2p", Severity::kCritical, Scope::kGpu, Action::kDrain};
    case 4: return {"recovery_drain_reset", Severity::kCritical, Scope::kGpu, Action::kDrain};
    case 5: return {"recovery_imex", Severity::kCritical, Scope::kFabric, Action::kCheckFabric};
    default: return {"recovery_unknown", Severity::kWarning, Scope::kGpu, Action::kWatch};
  }
}

}  // namespace

void PresenceRule::look(const GpuSample& sample, std::int64_t now_s, Charges& charges) {
  if (lost_.update(now_s, sample.lost))
    charges.push_back({classify_lost_gpu(), "the driver says that the GPU is lost"});
  if (reset_required_.update(now_s, sample.reset_required))
    charges.push_back({{"gpu_reset_required", Severity::kCritical, Scope::kGpu, Action::kResetGpu},
                       "the driver says that the GPU needs a reset"});
  if (!sample.persistence) return;
  persisted_ = persisted_ || *sample.persistence != 0;
  if (persistence_off_.update(now_s, persisted_ && *sample.persistence == 0))
    charges.push_back({{"persistence_lost", Severity::kWarning, Scope::kGpu, Action::kWatch},
                       "persistence mode was on and is off"});
}

void PcieReplayRule::look(const GpuSample& sample, std::int64_t now_s, Charges& charges) {
  replay_minutes_.add(now_s, replays_.increase(sample.pcie_replays));
  if (sample.pcie_generation && sample.pcie_width) {
    const auto limit = replay_limit(*sample.pcie_generation, *sample.pcie_width);
    if (replay_minutes_.reaching(limit + 1) >= 3)
      charges.push_back(
          {{"pcie_replay", Severity::kWarning, Scope::kGpu, Action::kWatch},
           "more than " + std::to_string(limit) + " PCIe replays a minute in 3 of 5 minutes"});
  }
  if (fatal_.increase(sample.pcie_fatal) > 0)
    charges.push_back({{"pcie_fatal", Severity::kCritical, Scope::kGpu, Action::kDrain},
                       "a fatal PCIe error was counted"});
  const bool busy = sample.utilization_percent.value_or(0) >= kBusyPercent;
  const bool narrow =
      sample.pcie_width && sample.pcie_width_max && *sample.pcie_width < *sample.pcie_width_max;
  const bool slow = sample.pcie_generation && sample.pcie_generation_max &&
                    *sample.pcie_generation < *sample.pcie_generation_max;
  if (degraded_.update(now_s, busy && (narrow || slow)))
    charges.push_back({{"pcie_degraded", Severity::kWarning, Scope::kGpu, Action::kWatch},
                       "under load, PCIe generation " +
                           std::to_string(sample.pcie_generation.value_or(0)) + " of " +
                           std::to_string(sample.pcie_generation_max.value_or(0)) + ", width " +
                           std::to_string(sample.pcie_width.value_or(0)) + " of " +
                           std::to_string(sample.pcie_width_max.value_or(0))});
}

void ThermalRule::look(const GpuSample& sample, std::int64_t now_s, Charges& charges) {
  const bool slow = sample.slowdown_hardware.value_or(0) != 0 ||
                    sample.slowdown_thermal.value_or(0) != 0 ||
                    sample.slowdown_power.value_or(0) != 0;
  minutes_.add(now_s, slow ? 1 : 0);
  if (slowed_down())
    charges.push_back({{"hw_slowdown", Severity::kWarning, Scope::kGpu, Action::kWatch},
                       "the hardware held the clocks down in 6 of 10 minutes"});
  if (slow_for_long_.update(now_s, slowed_down()))
    charges.push_back(
        {{"hw_slowdown_lasting", Severity::kCritical, Scope::kGpu, Action::kDrain, true},
         "the hardware has held the clocks down for " + std::to_string(times_.lasting_s) + " s"});
  look_at_temperature(sample, now_s, charges);
}

void ThermalRule::set_times(const HeatTimes& times) {
  if (times == times_) return;
  times_ = times;
  slow_for_long_ = hot_for_long_ = Persistent(times.lasting_s);
  hot_ = Persistent(times.begin_s);
}

void ThermalRule::look_at_temperature(const GpuSample& sample, std::int64_t now_s,
                                      Charges& charges) {
  const auto reaches = [](Reading value, Reading limit) {
    return value && limit && *limit > 0 && *value >= *limit;
  };
  const bool at_limit = reaches(sample.temperature_c, sample.slowdown_c) ||
                        reaches(sample.memory_temperature_c, sample.memory_max_c);
  is_hot_ = hot_.update(now_s, at_limit);
  const std::string readings = " at or above the device's own limit: GPU " +
                               std::to_string(sample.temperature_c.value_or(0)) + " C, memory " +
                               std::to_string(sample.memory_temperature_c.value_or(0)) + " C";
  if (is_hot_)
    charges.push_back({{"temperature_limit", Severity::kWarning, Scope::kGpu, Action::kWatch},
                       "for " + std::to_string(times_.begin_s) + " s" + readings});
  if (hot_for_long_.update(now_s, at_limit))
    charges.push_back(
        {{"temperature_limit_lasting", Severity::kCritical, Scope::kGpu, Action::kDrain, true},
         "for " + std::to_string(times_.lasting_s) + " s" + readings});
}

void RecoveryActionRule::look(const GpuSample& sample, std::int64_t, Charges& charges) {
  if (!sample.recovery_action) return;
  const auto before = std::exchange(last_, *sample.recovery_action);
  if (last_ != before) return;
  const bool was_asked = std::exchange(asked_, last_ != 0 && evacuates(recovery_verdict(last_)));
  if (last_ == 0 && was_asked)
    charges.push_back({{"recovered", Severity::kInfo, Scope::kGpu, Action::kIgnore},
                       "the driver needs no recovery action any more"});
  if (last_ == 0) return;
  charges.push_back(
      {recovery_verdict(last_), "the driver's recovery action is " + std::to_string(last_)});
}

// NVML gives the number alone. Where the kernel's line says more, that line decides: 154 is read as
// the recovery action itself, and links are judged by their registers.
void XidRule::look(const GpuSample& sample, std::int64_t, Charges& charges) {
  for (const auto code : sample.xids) {
    if (code > 0xffff || code == 154) continue;
    const int xid = static_cast<int>(code);
    const auto* row = Catalog::builtin().find_xid(xid);
    auto verdict = row ? row->verdict
                       : Verdict{"unknown_xid", Severity::kWarning, Scope::kGpu, Action::kWatch};
    if (xid == 74 || (xid >= 144 && xid <= 150)) verdict.action = Action::kWatch;
    charges.push_back({verdict, "Xid " + std::to_string(xid), xid});
  }
}

void HealthWatchRule::look(const GpuSample& sample, std::int64_t, Charges& charges) {
  for (const auto& incident : sample.incidents)
    charges.push_back(
        {{"dcgm_" + incident.system, incident.failed ? Severity::kCritical : Severity::kWarning,
          Scope::kGpu, Action::kWatch},
         "DCGM " + std::to_string(incident.code) + ": " + incident.text});
}

void HangRule::answered() {
  has_answered_ = true;
  in_a_row_ = 0;
  where_.clear();
}

std::optional<Charge> HangRule::hung(const std::string& source, const std::string& where) {
  if (where_.empty()) where_ = where;
  const std::string evidence = source + " did not answer" +
                               (where_.empty() ? "" : " about GPU " + where_) + ", " +
                               std::to_string(++in_a_row_) + " in a row";
  if (in_a_row_ == 1)
    return Charge{{"driver_slow", Severity::kWarning, Scope::kNode, Action::kWatch}, evidence};
  if (in_a_row_ == kHangsToBelieve && has_answered_)
    return Charge{{"driver_hung", Severity::kCritical, Scope::kNode, Action::kDrain}, evidence};
  return std::nullopt;
}

}  // namespace acrf
