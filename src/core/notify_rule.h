// SPDX-License-Identifier: GPL-2.0-or-later
// A Notify line of acrf.conf: who is told of which incidents, how, and how often at most. acrf.conf
// is for everybody to read, so what is secret is in a file that the line names.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/conf_line.h"
#include "core/fault.h"

namespace acrf {

enum class NotifyType { kWebhook, kSlack, kAlertmanager, kPagerDuty, kSns, kEmail };
std::string_view name_of(NotifyType type);

struct NotifyRule {
  std::string name;
  int line = 0;
  std::optional<NotifyType> type;
  std::string url;
  std::vector<std::string> to;  // mail addresses, or one topic
  std::string key_file;
  std::string program = "/usr/sbin/sendmail";
  std::vector<std::string> classes;  // empty: all
  Severity severity = Severity::kCritical;
  std::string text = "[{severity}] {node}: {class} {where}, {action}: {result} [{incident}]";
  int per_hour = 60;
};

// One key of a Notify line. The parser, `acrf conf show` and acrf.conf(5) come from this table.
struct NotifyKey {
  std::string_view name;
  std::string_view help;
  // What is wrong with the value; nothing when it was taken.
  std::optional<std::string> (*set)(NotifyRule& rule, std::string_view value);
  // As it would be written; empty when it is not set.
  std::string (*get)(const NotifyRule& rule);
};

std::span<const NotifyKey> notify_keys();

// "Notify=NAME Type=webhook Url=... Key=value ..."; an Error opens with "origin:line:".
Result<NotifyRule> parse_notify_rule(const ConfLine& line, std::string_view origin);

std::string to_line(const NotifyRule& rule);

}  // namespace acrf
