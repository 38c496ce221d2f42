// SPDX-License-Identifier: GPL-2.0-or-later
// A Fault line of acrf.conf: what this site makes of a code or a class, over the catalog's word.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/conf_line.h"
#include "core/fault.h"

namespace acrf {

enum class RuleMode {
  kOn,
  kShadow,  // what would be done is said, and the fault is only watched
  kOff,     // the fault is ignored
};

std::string_view name_of(RuleMode mode);

struct FaultRule {
  enum class Kind { kXid, kSxid, kClass };
  Kind kind = Kind::kClass;
  int code = 0;             // of an Xid or SXid
  std::string fault_class;  // of a class
  int line = 0;
  std::optional<Action> action;
  std::optional<Severity> severity;
  std::optional<Scope> scope;
  RuleMode mode = RuleMode::kOn;

  // "xid:63", "sxid:20034", "class:gsp"
  std::string key() const;
};

// A field of a Fault line, for the manual.
struct FaultKey {
  std::string_view name, help;
};
std::span<const FaultKey> fault_keys();

// Errors open with "origin:line:".
Result<FaultRule> parse_fault_rule(const ConfLine& line, std::string_view origin);

std::string to_line(const FaultRule& rule);

// The rule for a class; nullptr: none.
const FaultRule* find_class_rule(const std::vector<FaultRule>& rules, std::string_view fault_class);

// Makes of the verdict what the site wants; gives the action that only the shadow setting withheld.
std::optional<Action> apply_rule(const FaultRule& rule, Verdict& verdict);

}  // namespace acrf
