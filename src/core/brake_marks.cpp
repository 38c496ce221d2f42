// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/brake_marks.h"

#include <algorithm>

#include "core/incident.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::int64_t kHour_s = 3600;
constexpr std::string_view kDriver = "driver-";

bool is_of(const FleetNode& node, const ResetScope& scope) {
  return scope.partition.empty() || std::find(node.partitions.begin(), node.partitions.end(),
                                              scope.partition) != node.partitions.end();
}

bool is_of(const std::optional<HealthMark>& mark, const ResetScope& scope) {
  return mark &&
         (scope.fault_class.empty() || class_in_cause(mark->fault_class) == scope.fault_class);
}

}  // namespace

std::string cause_of(std::string_view fault_class, std::string_view shared) {
  return std::string(fault_class) + (shared.empty() ? "" : "@" + std::string(shared));
}

std::string_view class_in_cause(std::string_view cause) { return cause.substr(0, cause.find('@')); }

std::string_view origin_in_cause(std::string_view cause) {
  const auto at = cause.find('@');
  if (at == std::string_view::npos) return {};
  const auto shared = cause.substr(at + 1);
  return starts_with(shared, kDriver) ? cause : shared;
}

bool is_of_new_driver(std::string_view origin) {
  return origin.find("@" + std::string(kDriver)) != std::string_view::npos;
}

std::optional<HealthMark> counted_act(const FleetNode& node) {
  auto act = node.token.acted;
  if (!act && node.draining && is_acrf_reason(node.reason))
    act = HealthMark{node.reason_unix_s, std::string(class_in_reason(node.reason))};
  if (act && act->unix_s <= node.token.waived_unix_s) return std::nullopt;
  return act;
}

std::optional<HealthMark> act_of_last_hour(const FleetNode& node, std::int64_t now_unix_s) {
  auto act = counted_act(node);
  if (act && now_unix_s - act->unix_s >= kHour_s) return std::nullopt;
  return act;
}

bool is_held_drained(const FleetNode& node) {
  return node.draining && is_acrf_reason(node.reason) && counted_act(node).has_value();
}

// A claim from the future is one of a clock that was set back: it cannot be waited for.
bool is_live_claim(const FleetNode& node, std::int64_t now_unix_s) {
  const auto& claim = node.token.claim;
  return claim && now_unix_s - claim->unix_s < kClaimLives_s &&
         claim->unix_s - now_unix_s < kClaimLives_s;
}

bool is_hot(const FleetNode& node, std::int64_t now_unix_s) {
  return node.token.hot_unix_s > 0 && now_unix_s - node.token.hot_unix_s < kHotLives_s;
}

std::vector<HealthMark> signs_of_fault(const FleetNode& node, std::int64_t now_unix_s) {
  std::vector<HealthMark> signs;
  if (node.token.braked) signs.push_back(*node.token.braked);
  if (is_live_claim(node, now_unix_s)) signs.push_back(*node.token.claim);
  if (auto act = counted_act(node)) {
    const bool is_of_driver = is_of_new_driver(origin_in_cause(act->fault_class));
    if (now_unix_s - act->unix_s < (is_of_driver ? 24 * kHour_s : kHour_s))
      signs.push_back(std::move(*act));
  }
  return signs;
}

bool shows_fault(const FleetNode& node, std::string_view fault_class, std::int64_t now_unix_s) {
  const auto signs = signs_of_fault(node, now_unix_s);
  return std::any_of(signs.begin(), signs.end(),
                     [&](const HealthMark& sign) { return sign.fault_class == fault_class; });
}

bool has_shared_cause(std::string_view fault_class) {
  fault_class = class_in_cause(fault_class);
  constexpr std::string_view kPrefixes[] = {"fs_",     "ib_",       "nic_",         "link_",
                                            "fabric_", "nvswitch_", "cooling_",     "power_",
                                            "thermal", "hw_slow",   "temperature_", "node_lost"};
  return fault_class == "recovery_imex" ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return starts_with(fault_class, prefix); });
}

void set_claim(NodeToken& token, std::string_view fault_class, std::int64_t now_unix_s,
               std::string_view speaker) {
  const bool is_anothers = token.claim && token.claim->speaker != speaker;
  if (is_anothers && now_unix_s - token.claim->unix_s < kClaimLives_s) return;
  token.claim = HealthMark{now_unix_s, std::string(fault_class), std::string(speaker)};
}

bool is_claimed_by(const NodeToken& token, std::string_view speaker) {
  return token.claim && token.claim->speaker == speaker;
}

void withdraw_claim(NodeToken& token, std::string_view speaker) {
  if (is_claimed_by(token, speaker)) token.claim.reset();
}

void set_acted(NodeToken& token, std::string_view fault_class, std::int64_t now_unix_s) {
  token.claim.reset();  // whoever's: it is done
  token.braked.reset();
  token.acted = HealthMark{now_unix_s, std::string(fault_class)};
  token.waived_unix_s = 0;
}

void doubt_act(NodeToken& token) {
  if (token.acted) ++token.acted->unix_s;  // no act that anybody remembers
}

void set_braked(NodeToken& token, std::string_view fault_class, std::int64_t now_unix_s,
                std::string_view speaker) {
  withdraw_claim(token, speaker);
  if (token.braked && token.braked->fault_class == fault_class) return;
  token.braked = HealthMark{now_unix_s, std::string(fault_class)};
}

void clear_wish(NodeToken& token, std::string_view speaker) {
  withdraw_claim(token, speaker);
  token.braked.reset();
}

std::vector<std::string> nodes_to_reset(const Fleet& fleet, const ResetScope& scope) {
  std::vector<std::string> names;
  for (const auto& node : fleet.nodes)
    if (is_of(node, scope) && (is_of(counted_act(node), scope) || is_of(node.token.braked, scope)))
      names.push_back(node.name);
  return names;
}

void reset_marks(NodeToken& token, std::int64_t now_unix_s) {
  token.acted.reset();
  token.braked.reset();
  token.waived_unix_s = now_unix_s;
}

}  // namespace acrf
