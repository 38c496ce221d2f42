// SPDX-License-Identifier: GPL-2.0-or-later
// Limits: gpud (drop, flap), Azure's node health checks (carrier losses), NVSentinel (error rates).
#include "core/port_rule.h"

#include <algorithm>

namespace acrf {
namespace {

constexpr std::int64_t kDropSeconds = 240;
constexpr std::int64_t kDropLingersSeconds = 600;
constexpr std::int64_t kFlapSeconds = 25;
constexpr std::uint64_t kFlaps = 3;
constexpr std::uint64_t kCarrierLosses = 5;
constexpr std::uint64_t kSymbolErrorsPerHour = 120;
constexpr std::uint64_t kRecoveriesPerMinute = 5;

Verdict drain_at_job_end(const char* fault_class) {
  return {fault_class, Severity::kCritical, Scope::kFabric, Action::kDrain, true};
}

Verdict watch(const char* fault_class) {
  return {fault_class, Severity::kWarning, Scope::kFabric, Action::kWatch};
}

}  // namespace

void PortRule::follow_link(bool active, std::int64_t now_s) {
  if (!active) {
    if (was_active_ && !down_since_s_) {
      down_since_s_ = now_s;
      seen_losses_.add(1, now_s);
    }
    if (down_since_s_ && now_s - *down_since_s_ >= kDropSeconds)
      dropped_until_s_ = now_s + kDropLingersSeconds;
    return;
  }
  if (down_since_s_ && now_s - *down_since_s_ >= kFlapSeconds) flaps_.add(1, now_s);
  down_since_s_.reset();
  was_active_ = true;
}

void PortRule::count(const PortReading& reading, std::int64_t now_s) {
  if (reading.link_downs) counted_losses_.observe(*reading.link_downs, now_s);
  if (reading.symbol_errors) symbol_errors_.observe(*reading.symbol_errors, now_s);
  if (reading.link_recoveries) link_recoveries_.observe(*reading.link_recoveries, now_s);
}

std::vector<Finding> PortRule::observe(const PortReading& reading, std::int64_t now_s) {
  if (reading.active) follow_link(*reading.active, now_s);
  count(reading, now_s);
  std::vector<Finding> findings;
  const auto found = [&](Verdict verdict, const std::string& evidence) {
    findings.push_back({std::move(verdict), reading.name, evidence});
  };
  if (!was_active_) return findings;
  if (now_s < dropped_until_s_)
    found(drain_at_job_end("ib_down"),
          down_since_s_
              ? "port is down for " + std::to_string(now_s - *down_since_s_) + " s"
              : "port was down for more than " + std::to_string(kDropSeconds) + " s lately");
  if (const auto flaps = flaps_.growth(now_s); flaps >= kFlaps)
    found(drain_at_job_end("ib_flapping"), std::to_string(flaps) + " flaps in 24 hours");
  const auto losses = std::max(seen_losses_.growth(now_s), counted_losses_.growth(now_s));
  if (losses >= kCarrierLosses)
    found(drain_at_job_end("ib_carrier_losses"),
          std::to_string(losses) + " carrier losses in 24 hours");
  if (const auto errors = symbol_errors_.growth(now_s); errors > kSymbolErrorsPerHour)
    found(watch("ib_symbol_errors"), std::to_string(errors) + " symbol errors in an hour");
  if (const auto recoveries = link_recoveries_.growth(now_s); recoveries > kRecoveriesPerMinute)
    found(watch("ib_link_recovery"), std::to_string(recoveries) + " link recoveries in a minute");
  return findings;
}

}  // namespace acrf
