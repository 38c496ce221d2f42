// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/fault_rule.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

constexpr int kMostCode = 99'999;

constexpr FaultKey kKeys[] = {
    {"Fault", "xid:N, sxid:N or class:NAME, as acrf classify shows them. Codes go before classes."},
    {"Action",
     "What the fault asks for: ignore, watch, restart_app, reset_gpu, reboot_node, drain, rma or "
     "check_fabric."},
    {"Severity", "info, warning, critical or fatal. Nodes are drained from critical on."},
    {"Scope", "process, gpu, node or fabric."},
    {"Mode",
     "on, shadow (say what would be done, and only watch) or off (ignore the fault). Default: on."},
};

std::optional<RuleMode> parse_mode(std::string_view name) {
  for (const auto mode : {RuleMode::kOn, RuleMode::kShadow, RuleMode::kOff})
    if (equals_ignoring_case(name, name_of(mode))) return mode;
  return std::nullopt;
}

bool is_class_name(std::string_view name) {
  return !name.empty() && name.size() <= 40 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool set_subject(FaultRule& rule, std::string_view value) {
  if (take_prefix(value, "class:")) {
    rule.kind = FaultRule::Kind::kClass;
    rule.fault_class = std::string(value);
    return is_class_name(value);
  }
  const bool is_sxid = take_prefix(value, "sxid:");
  if (!is_sxid && !take_prefix(value, "xid:")) return false;
  rule.kind = is_sxid ? FaultRule::Kind::kSxid : FaultRule::Kind::kXid;
  const auto code = parse_unsigned(value);
  if (!code || *code == 0 || *code > kMostCode) return false;
  rule.code = static_cast<int>(*code);
  return true;
}

// What is wrong with a field, or nothing.
std::string_view set_field(FaultRule& rule, std::string_view name, std::string_view value) {
  if (equals_ignoring_case(name, "Fault"))
    return set_subject(rule, value) ? "" : "must be xid:N, sxid:N or class:NAME";
  if (equals_ignoring_case(name, "Action")) {
    rule.action = parse_action(value);
    return rule.action ? "" : "is no action";
  }
  if (equals_ignoring_case(name, "Severity")) {
    rule.severity = parse_severity(value);
    return rule.severity ? "" : "must be info, warning, critical or fatal";
  }
  if (equals_ignoring_case(name, "Scope")) {
    rule.scope = parse_scope(value);
    return rule.scope ? "" : "must be process, gpu, node or fabric";
  }
  if (equals_ignoring_case(name, "Mode")) {
    const auto mode = parse_mode(value);
    rule.mode = mode.value_or(RuleMode::kOn);
    return mode ? "" : "must be on, shadow or off";
  }
  return "is no field of a Fault";
}

}  // namespace

std::string_view name_of(RuleMode mode) {
  switch (mode) {
    case RuleMode::kOn: return "on";
    case RuleMode::kShadow: return "shadow";
    case RuleMode::kOff: return "off";
  }
  return "on";
}

std::string FaultRule::key() const {
  if (kind == Kind::kClass) return "class:" + fault_class;
  return (kind == Kind::kSxid ? "sxid:" : "xid:") + std::to_string(code);
}

std::span<const FaultKey> fault_keys() { return kKeys; }

Result<FaultRule> parse_fault_rule(const ConfLine& line, std::string_view origin) {
  FaultRule rule;
  rule.line = line.number;
  for (const auto& [name, value] : line.fields)
    if (const auto problem = set_field(rule, name, value); !problem.empty())
      return conf_error(origin, line.number, name + "=" + value + ": " + std::string(problem));
  if (!line.find("Fault"))
    return conf_error(origin, line.number, "a Fault needs xid:N, sxid:N or class:NAME");
  if (line.fields.size() < 2)
    return conf_error(
        origin, line.number,
        "Fault=" + rule.key() + " changes nothing: give Action, Severity, Scope or Mode");
  return rule;
}

std::string to_line(const FaultRule& rule) {
  std::string line = "Fault=" + rule.key();
  if (rule.action) line += " Action=" + std::string(name_of(*rule.action));
  if (rule.severity) line += " Severity=" + std::string(name_of(*rule.severity));
  if (rule.scope) line += " Scope=" + std::string(name_of(*rule.scope));
  if (rule.mode != RuleMode::kOn || (!rule.action && !rule.severity && !rule.scope))
    line += " Mode=" + std::string(name_of(rule.mode));
  return line;
}

const FaultRule* find_class_rule(const std::vector<FaultRule>& rules,
                                 std::string_view fault_class) {
  for (const auto& rule : rules)
    if (rule.kind == FaultRule::Kind::kClass && rule.fault_class == fault_class) return &rule;
  return nullptr;
}

std::optional<Action> apply_rule(const FaultRule& rule, Verdict& verdict) {
  if (rule.action) verdict.action = *rule.action;
  if (rule.severity) verdict.severity = *rule.severity;
  if (rule.scope) verdict.scope = *rule.scope;
  if (rule.mode == RuleMode::kOn || verdict.action == Action::kIgnore) return std::nullopt;
  const auto wanted = verdict.action;
  verdict.action = rule.mode == RuleMode::kShadow ? Action::kWatch : Action::kIgnore;
  return rule.mode == RuleMode::kShadow ? std::optional(wanted) : std::nullopt;
}

}  // namespace acrf
