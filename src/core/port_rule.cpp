// SPDX-License-Identifier: GPL-2.0-or-later
// Limits: gpud (drop, flap), Azure's node health checks (carrier losses), NVSentinel (rates of
// symbol errors, recoveries, receive errors, acknowledgements, slow restarts); the others are ours
// and all rates lead to no action.
#include "core/port_rule.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::int64_t kDropSeconds = 240;
constexpr std::int64_t kDropLingersSeconds = 600;
constexpr std::int64_t kFlapSeconds = 25;
constexpr std::uint64_t kFlaps = 3;
constexpr std::uint64_t kCarrierLosses = 5;
constexpr std::uint64_t kSymbolErrorsPerHour = 120;
constexpr std::uint64_t kRecoveriesPerMinute = 5;

struct RateRule {
  const char* fault_class;
  Reading PortReading::*counter;
  std::uint64_t per_minute;  // in 2 of 3 minutes
  const char* what;
};
constexpr RateRule kRates[] = {
    {"ib_local_link_integrity", &PortReading::integrity_errors, 1, "local link integrity errors"},
    {"ib_receive_errors", &PortReading::receive_errors, 600, "damaged packets received"},
    {"ib_ack_timeouts", &PortReading::ack_timeouts, 60, "timeouts of acknowledgements"},
    {"roce_icrc_errors", &PortReading::icrc_errors, 1, "packets with a wrong checksum"},
    {"roce_retransmits", &PortReading::retransmits, 600, "adaptive retransmissions"},
    {"roce_slow_restarts", &PortReading::slow_restarts, 600, "slow restarts"},
};

Verdict drain_at_job_end(const char* fault_class) {
  return {fault_class, Severity::kCritical, Scope::kFabric, Action::kDrain, true};
}

Verdict watch(const char* fault_class) {
  return {fault_class, Severity::kWarning, Scope::kFabric, Action::kWatch};
}

}  // namespace

PortRule::PortRule() {
  for (const auto& rule : kRates) rates_.emplace_back(rule.per_minute, 2, 3);
}

void PortRule::follow_link(bool active, std::int64_t now_s) {
  if (!active) {
    if (was_active_ && !down_since_s_) {
      down_since_s_ = now_s;
      seen_losses_.add(now_s, 1);
    }
    if (down_since_s_ && now_s - *down_since_s_ >= kDropSeconds)
      dropped_until_s_ = now_s + kDropLingersSeconds;
    return;
  }
  if (down_since_s_ && now_s - *down_since_s_ >= kFlapSeconds) flaps_.add(now_s, 1);
  down_since_s_.reset();
  was_active_ = true;
}

std::vector<Finding> PortRule::observe(const PortReading& reading, std::int64_t now_s) {
  if (reading.active) follow_link(*reading.active, now_s);
  std::vector<Finding> findings;
  judge_outages(reading, now_s, findings);
  judge_rates(reading, now_s, findings);
  if (!was_active_) findings.clear();
  return findings;
}

// While the port is down, the end of a long outage moves with each look; what is kept stands still.
std::string PortRule::to_text() const {
  const bool is_long = down_since_s_ && dropped_until_s_ > *down_since_s_;
  const auto dropped_until_s =
      is_long ? *down_since_s_ + kDropSeconds + kDropLingersSeconds : dropped_until_s_;
  return std::string(was_active_ ? "1" : "0") + " " +
         (down_since_s_ ? std::to_string(*down_since_s_) : "-") + " " +
         std::to_string(dropped_until_s) + " " + std::to_string(best_rate_mbps_) + " " +
         flaps_.to_word() + " " + seen_losses_.to_word() + " " + counted_losses_.to_word();
}

void PortRule::take_text(std::string_view text) {
  const auto words = split(text, ' ');
  if (words.size() != 7) return;
  const auto dropped = parse_unsigned(words[2]);
  const auto best = parse_unsigned(words[3]);
  const auto down = parse_unsigned(words[1]);
  if (!dropped || !best || *dropped > INT64_MAX / 2 || down.value_or(0) > INT64_MAX / 2) return;
  was_active_ = words[0] == "1";
  if (down) down_since_s_ = static_cast<std::int64_t>(*down);
  dropped_until_s_ = static_cast<std::int64_t>(*dropped);
  best_rate_mbps_ = *best;
  flaps_.take_word(words[4]);
  seen_losses_.take_word(words[5]);
  counted_losses_.take_word(words[6]);
}

void PortRule::judge_outages(const PortReading& reading, std::int64_t now_s,
                             std::vector<Finding>& findings) {
  if (now_s < dropped_until_s_)
    findings.push_back(
        {drain_at_job_end("ib_down"), reading.name,
         down_since_s_
             ? "port is down for " + std::to_string(now_s - *down_since_s_) + " s"
             : "port was down for more than " + std::to_string(kDropSeconds) + " s lately"});
  if (const auto flaps = flaps_.sum(now_s); flaps >= kFlaps)
    findings.push_back({drain_at_job_end("ib_flapping"), reading.name,
                        std::to_string(flaps) + " flaps in 24 hours"});
  const auto counted = counted_losses_.observe(now_s, reading.link_downs);
  if (const auto losses = std::max(seen_losses_.sum(now_s), counted); losses >= kCarrierLosses)
    findings.push_back({drain_at_job_end("ib_carrier_losses"), reading.name,
                        std::to_string(losses) + " carrier losses in 24 hours"});
}

void PortRule::judge_rates(const PortReading& reading, std::int64_t now_s,
                           std::vector<Finding>& findings) {
  const auto found = [&](const char* fault_class, const std::string& evidence) {
    findings.push_back({watch(fault_class), reading.name, evidence});
  };
  if (const auto errors = symbol_errors_.observe(now_s, reading.symbol_errors);
      errors > kSymbolErrorsPerHour)
    found("ib_symbol_errors", std::to_string(errors) + " symbol errors in an hour");
  if (const auto recoveries = link_recoveries_.observe(now_s, reading.link_recoveries);
      recoveries > kRecoveriesPerMinute)
    found("ib_link_recovery", std::to_string(recoveries) + " link recoveries in a minute");
  for (std::size_t i = 0; i < rates_.size(); ++i)
    if (rates_[i].observe(now_s, reading.*kRates[i].counter))
      found(kRates[i].fault_class, "at least " + std::to_string(kRates[i].per_minute) + " " +
                                       kRates[i].what + " a minute in 2 of 3 minutes");
  if (!reading.rate_mbps || !reading.active.value_or(false)) return;
  best_rate_mbps_ = std::max(best_rate_mbps_, *reading.rate_mbps);
  if (slow_.observe(*reading.rate_mbps < best_rate_mbps_))
    found("ib_slow", "the link runs at " + std::to_string(*reading.rate_mbps) + " of " +
                         std::to_string(best_rate_mbps_) + " Mb/s");
}

}  // namespace acrf
