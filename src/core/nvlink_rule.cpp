// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/gpu_rule.h"

namespace acrf {
namespace {

constexpr std::uint64_t kCrcPerMinute = 100 * 60;  // DCGM: 100 per second
constexpr std::uint64_t kFabricCompleted = 3;

void add_name(std::string& names, std::uint64_t link) {
  names += (names.empty() ? "" : ", ") + std::to_string(link);
}

}  // namespace

void NvlinkRule::look(const GpuSample& sample, std::int64_t now_s, Charges& charges) {
  look_at_links(sample, now_s, charges);
  const auto crc = crc_.increase(sample.nvlink_crc);
  const auto retries =
      replay_.increase(sample.nvlink_replay) + recovery_.increase(sample.nvlink_recovery);
  crc_minutes_.add(now_s, crc);
  retry_minutes_.add(now_s, retries);
  const Verdict errors = {"nvlink_errors", Severity::kCritical, Scope::kFabric,
                          Action::kCheckFabric};
  if (crc_minutes_.reaching(kCrcPerMinute) > 0) {
    charges.push_back({errors, "at least 100 NVLink CRC errors per second over a minute"});
  } else if (retry_minutes_.reaching(1) >= 2) {
    charges.push_back({errors, "NVLink replays or recoveries in 2 of 3 minutes"});
  } else if (symbol_minutes_.reaching(1) >= 2) {
    charges.push_back({errors, "NVLink symbol errors in 2 of 3 minutes"});
  } else if (crc_minutes_.reaching(1) >= 3) {
    charges.push_back({{"nvlink_crc", Severity::kWarning, Scope::kFabric, Action::kWatch},
                       "NVLink CRC errors in 3 of 3 minutes"});
  }
  look_at_fabric(sample, now_s, charges);
}

// A link that was never up may not be wired on this board: only one that went down is charged.
void NvlinkRule::look_at_links(const GpuSample& sample, std::int64_t now_s, Charges& charges) {
  std::string down;
  std::string failed;
  std::uint64_t symbols = 0;
  for (const auto& reading : sample.links) {
    Link& link = links_[reading.link];
    if (reading.active.value_or(0) != 0) link.was_active = true;
    const bool is_down = link.was_active && reading.active && *reading.active == 0;
    if (link.down.update(now_s, is_down)) add_name(down, reading.link);
    if (link.recovery_failed.increase(reading.recovery_failed) > 0) add_name(failed, reading.link);
    symbols += link.symbol_errors.increase(reading.symbol_errors);
  }
  symbol_minutes_.add(now_s, symbols);
  const Verdict verdict = {"nvlink_down", Severity::kCritical, Scope::kFabric,
                           Action::kCheckFabric};
  if (!down.empty()) {
    charges.push_back({verdict, "NVLink " + down + " went down"});
  } else if (!failed.empty()) {
    charges.push_back({verdict, "NVLink " + failed + " could not be recovered"});
  }
}

// Fabric Manager may not be up yet after a boot, and boards without it never complete: only a state
// that was complete and is not any more is charged.
void NvlinkRule::look_at_fabric(const GpuSample& sample, std::int64_t now_s, Charges& charges) {
  if (!sample.fabric_state) return;
  const bool complete =
      *sample.fabric_state == kFabricCompleted && sample.fabric_status.value_or(0) == 0;
  const bool degraded = complete && sample.fabric_degraded.value_or(0) != 0;
  if (complete) fabric_was_complete_ = true;
  if (!fabric_.update(now_s, degraded || (fabric_was_complete_ && !complete))) return;
  charges.push_back({{"fabric_degraded", Severity::kCritical, Scope::kFabric, Action::kCheckFabric},
                     "fabric state " + std::to_string(*sample.fabric_state) + ", status " +
                         std::to_string(sample.fabric_status.value_or(0)) +
                         (degraded ? ", health mask names a degradation" : "")});
}

}  // namespace acrf
