// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/check_rule.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

constexpr char kClassPrefix[] = "check_";

using Problem = std::optional<std::string>;

constexpr std::size_t kLongestText = 200;

Problem set_program(CheckRule& rule, std::string_view value) {
  rule.program.clear();
  for (const auto word : split(value, ' '))
    if (!word.empty()) rule.program.emplace_back(word);
  if (rule.program.empty() || rule.program.front().front() != '/')
    return "must be an absolute path, with arguments after it";
  return std::nullopt;
}

std::string show_program(const CheckRule& rule) {
  std::string text;
  for (const auto& word : rule.program) text += (text.empty() ? "" : " ") + word;
  return text;
}

Problem set_seconds(int& seconds, std::string_view value, int least, int most) {
  const auto parsed = parse_unsigned(value);
  if (!parsed || *parsed < static_cast<std::uint64_t>(least) ||
      *parsed > static_cast<std::uint64_t>(most))
    return "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  seconds = static_cast<int>(*parsed);
  return std::nullopt;
}

Problem set_action(CheckRule& rule, std::string_view value) {
  for (const auto action : {Action::kWatch, Action::kDrain}) {
    if (!equals_ignoring_case(value, name_of(action))) continue;
    rule.action = action;
    return std::nullopt;
  }
  return "must be watch or drain";
}

Problem set_mode(CheckRule& rule, std::string_view value) {
  for (const auto mode : {CheckMode::kOff, CheckMode::kShadow, CheckMode::kOn}) {
    if (!equals_ignoring_case(value, name_of(mode))) continue;
    rule.mode = mode;
    return std::nullopt;
  }
  return "must be off, shadow or on";
}

constexpr CheckKey kKeys[] = {
    {"Program", "What to run: an absolute path, and arguments after blanks, in double quotes.",
     set_program, show_program},
    {"Interval", "Seconds from one start to the next, 10 to 86400. Default 300.",
     [](CheckRule& rule, std::string_view value) {
       return set_seconds(rule.interval_s, value, 10, 86400);
     },
     [](const CheckRule& rule) { return std::to_string(rule.interval_s); }},
    {"Timeout", "Seconds after which it is killed, 1 to 600. Default 30.",
     [](CheckRule& rule, std::string_view value) {
       return set_seconds(rule.timeout_s, value, 1, 600);
     },
     [](const CheckRule& rule) { return std::to_string(rule.timeout_s); }},
    {"Action",
     "On exit code 2, in two of three runs: watch, or drain, which lets jobs run to their end. "
     "Default watch.",
     set_action, [](const CheckRule& rule) { return std::string(name_of(rule.action)); }},
    {"Mode", "off, shadow (results are logged and nothing else) or on. Default shadow.", set_mode,
     [](const CheckRule& rule) { return std::string(name_of(rule.mode)); }},
};

// What can be written into a line again, and into a node's drain reason.
bool is_plain(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](unsigned char c) {
    return c >= ' ' && c < 0x7f && c != '#' && c != '\\' && c != '"';
  });
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 40 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

const CheckKey* find_key(std::string_view name) {
  for (const auto& key : kKeys)
    if (equals_ignoring_case(key.name, name)) return &key;
  return nullptr;
}

}  // namespace

std::string_view name_of(CheckMode mode) {
  switch (mode) {
    case CheckMode::kOff: return "off";
    case CheckMode::kShadow: return "shadow";
    case CheckMode::kOn: return "on";
  }
  return "off";
}

std::span<const CheckKey> check_keys() { return kKeys; }

Result<CheckRule> parse_check_rule(const ConfLine& line, std::string_view origin) {
  CheckRule rule;
  rule.line = line.number;
  for (const auto& [name, value] : line.fields) {
    if (!is_plain(value))
      return conf_error(origin, line.number,
                        name + " must not contain #, \\ or control characters");
    if (equals_ignoring_case(name, "Check")) {
      rule.name = value;
      continue;
    }
    const auto* key = find_key(name);
    if (!key) return conf_error(origin, line.number, "a Check has no '" + name + "'");
    if (const auto problem = key->set(rule, value))
      return conf_error(origin, line.number,
                        std::string(key->name) + "=" + value + ": " + *problem);
  }
  if (!is_name(rule.name))
    return conf_error(origin, line.number,
                      "a Check needs a name of letters, digits, _ and -, 40 at most");
  if (rule.program.empty()) return conf_error(origin, line.number, "a Check needs a Program");
  return rule;
}

std::string to_line(const CheckRule& rule) {
  std::string line = "Check=" + rule.name;
  for (const auto& key : kKeys) {
    const auto value = key.get(rule);
    const bool blank = value.find(' ') != std::string::npos;
    line += " " + std::string(key.name) + "=" + (blank ? "\"" + value + "\"" : value);
  }
  return line;
}

std::vector<Finding> CheckHistory::observe(const CheckResult& result) {
  const bool known = result.exit_code && *result.exit_code >= 0 && *result.exit_code <= 2;
  if (known) {
    critical_.observe(*result.exit_code == 2);
    warning_.observe(*result.exit_code >= 1);
    if (*result.exit_code != 0) last_text_ = printable_line(result.text, kLongestText);
  }
  const std::string fault_class = kClassPrefix + rule_.name;
  if (critical_.holds() && rule_.action == Action::kDrain)
    return {{{fault_class, Severity::kCritical, Scope::kNode, Action::kDrain, true},
             "node",
             last_text_}};
  if (critical_.holds() || warning_.holds())
    return {{{fault_class + "_warning", Severity::kWarning, Scope::kNode, Action::kWatch},
             "node",
             last_text_}};
  return {};
}

}  // namespace acrf
