// SPDX-License-Identifier: GPL-2.0-or-later
// A Check line of acrf.conf: a program of the site that looks at the node, with Nagios' exit codes.
// A check is in shadow until the site trusts it: its results are logged and nothing else. What is
// neither 0, 1 nor 2 is unknown, and unknown is never acted on.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/conf_line.h"
#include "core/node_verdict.h"
#include "core/reading_window.h"

namespace acrf {

enum class CheckMode { kOff, kShadow, kOn };
std::string_view name_of(CheckMode mode);

struct CheckRule {
  std::string name;
  int line = 0;
  std::vector<std::string> program;  // path and arguments; no shell sees them
  int interval_s = 300;
  int timeout_s = 30;
  Action action = Action::kWatch;  // on exit code 2: watch or drain
  CheckMode mode = CheckMode::kShadow;
};

// One key of a Check line. The parser, `acrf conf show` and acrf.conf(5) come from this table.
struct CheckKey {
  std::string_view name;
  std::string_view help;
  // What is wrong with the value; nothing when it was taken.
  std::optional<std::string> (*set)(CheckRule& rule, std::string_view value);
  std::string (*get)(const CheckRule& rule);
};

std::span<const CheckKey> check_keys();

// "Check=NAME Program=PATH Key=value ..."; an Error opens with "origin:line:".
Result<CheckRule> parse_check_rule(const ConfLine& line, std::string_view origin);

std::string to_line(const CheckRule& rule);

struct CheckResult {
  std::optional<int> exit_code;  // nothing: it was killed, crashed or could not be started
  std::string text;              // its first line, or what went wrong
  std::string output = {};       // the first 4 kB of all it printed
  bool late = false;             // it was killed because its time was up
};

// One check's results over time.
class CheckHistory {
 public:
  explicit CheckHistory(CheckRule rule) : rule_(std::move(rule)) {}

  const CheckRule& rule() const { return rule_; }

  // What is found now, whatever the mode. An unknown result leaves things as they are.
  std::vector<Finding> observe(const CheckResult& result);

 private:
  CheckRule rule_;
  KOfN critical_{2, 3}, warning_{2, 3};
  std::string last_text_;
};

}  // namespace acrf
