// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/notify_rule.h"

#include <algorithm>

#include "core/notification.h"
#include "core/text.h"
#include "core/url.h"

namespace acrf {
namespace {

using Problem = std::optional<std::string>;

constexpr int kMostPerHour = 3600;

std::string joined(const std::vector<std::string>& pieces) {
  std::string text;
  for (const auto& piece : pieces) text += (text.empty() ? "" : ",") + piece;
  return text;
}

Problem set_type(NotifyRule& rule, std::string_view value) {
  for (const auto type : {NotifyType::kWebhook, NotifyType::kSlack, NotifyType::kAlertmanager,
                          NotifyType::kPagerDuty, NotifyType::kSns, NotifyType::kEmail}) {
    if (!equals_ignoring_case(value, name_of(type))) continue;
    rule.type = type;
    return std::nullopt;
  }
  return "must be webhook, slack, alertmanager, pagerduty, sns or email";
}

Problem set_url(NotifyRule& rule, std::string_view value) {
  if (!parse_url(value)) return "must be an http or https URL";
  rule.url = value;
  return std::nullopt;
}

// Addresses become arguments of a program and words of a header.
bool is_recipient(std::string_view text) {
  return !text.empty() && text.size() <= 200 && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("@._+-:").find(c) != std::string_view::npos;
         });
}

Problem set_to(NotifyRule& rule, std::string_view value) {
  for (const auto piece : split(value, ',')) {
    if (!is_recipient(trim(piece)))
      return "must be mail addresses, separated by commas, or one SNS topic";
    rule.to.emplace_back(trim(piece));
  }
  return std::nullopt;
}

Problem set_path(std::string& path, std::string_view value) {
  if (value.empty() || value.front() != '/') return "must be an absolute path";
  path = value;
  return std::nullopt;
}

Problem set_classes(NotifyRule& rule, std::string_view value) {
  for (const auto piece : split(value, ',')) {
    if (trim(piece).empty()) return "must be classes, separated by commas";
    rule.classes.emplace_back(trim(piece));
  }
  return std::nullopt;
}

Problem set_severity(NotifyRule& rule, std::string_view value) {
  const auto severity = parse_severity(value);
  if (!severity) return "must be info, warning, critical or fatal";
  rule.severity = *severity;
  return std::nullopt;
}

Problem set_text(NotifyRule& rule, std::string_view value) {
  if (const auto problem = template_problem(value)) return problem;
  rule.text = value;
  return std::nullopt;
}

Problem set_rate(NotifyRule& rule, std::string_view value) {
  const auto number = take_unsigned(value);
  if (!number || value != "/h" || *number < 1 || *number > kMostPerHour)
    return "must be 1/h to " + std::to_string(kMostPerHour) + "/h";
  rule.per_hour = static_cast<int>(*number);
  return std::nullopt;
}

constexpr NotifyKey kKeys[] = {
    {"Type", "webhook, slack, alertmanager, pagerduty, sns or email.", set_type,
     [](const NotifyRule& rule) { return rule.type ? std::string(name_of(*rule.type)) : ""; }},
    {"Url", "Where it is sent: http or https. A key is sent over https or to this host only.",
     set_url, [](const NotifyRule& rule) { return rule.url; }},
    {"To", "email: the addresses, separated by commas. sns: the topic, arn:aws:sns:...", set_to,
     [](const NotifyRule& rule) { return joined(rule.to); }},
    {"KeyFile",
     "A file that only root may read. webhook: the secret that signs messages. slack: the whole "
     "URL, instead of Url. alertmanager: a bearer token. pagerduty: the routing key. sns: access "
     "key id and secret key, separated by a blank, and a session token after them if there is one.",
     [](NotifyRule& rule, std::string_view value) { return set_path(rule.key_file, value); },
     [](const NotifyRule& rule) { return rule.key_file; }},
    {"Program", "email: what sends it, with sendmail's arguments. Default /usr/sbin/sendmail.",
     [](NotifyRule& rule, std::string_view value) { return set_path(rule.program, value); },
     [](const NotifyRule& rule) {
       return rule.type == NotifyType::kEmail ? rule.program : std::string();
     }},
    {"Class", "Only incidents of these classes, separated by commas. Default all.", set_classes,
     [](const NotifyRule& rule) { return joined(rule.classes); }},
    {"Severity", "Only from this severity on: info, warning, critical or fatal. Default critical.",
     set_severity, [](const NotifyRule& rule) { return std::string(name_of(rule.severity)); }},
    {"Template",
     "The text, in double quotes, with {node}, {class}, {severity}, {action}, {incident}, "
     "{evidence}, {result}, {where} and {state} filled in.",
     set_text, [](const NotifyRule& rule) { return rule.text; }},
    {"RateLimit",
     "So many messages an hour at most, as 60/h; what is held back is counted in a "
     "summary. Default 60/h.",
     set_rate, [](const NotifyRule& rule) { return std::to_string(rule.per_hour) + "/h"; }},
};

const NotifyKey* find_key(std::string_view name) {
  for (const auto& key : kKeys)
    if (equals_ignoring_case(key.name, name)) return &key;
  return nullptr;
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 40 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

bool is_plain(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](unsigned char c) {
    return c >= ' ' && c < 0x7f && c != '#' && c != '\\' && c != '"';
  });
}

Problem missing_part(const NotifyRule& rule) {
  if (!is_name(rule.name)) return "a Notify needs a name of letters, digits, _ and -, 40 at most";
  if (!rule.type) return "a Notify needs a Type";
  const bool has_key = !rule.key_file.empty();
  switch (*rule.type) {
    case NotifyType::kEmail: return rule.to.empty() ? Problem("Type=email needs To") : std::nullopt;
    case NotifyType::kSlack:
      return rule.url.empty() == !has_key ? Problem("Type=slack needs either Url or KeyFile")
                                          : std::nullopt;
    case NotifyType::kSns:
      if (rule.to.size() != 1 || !starts_with(rule.to[0], "arn:") || !has_key)
        return "Type=sns needs To, one topic's arn:..., and KeyFile";
      break;
    case NotifyType::kPagerDuty:
      if (!has_key) return "Type=pagerduty needs KeyFile";
      break;
    case NotifyType::kWebhook:
    case NotifyType::kAlertmanager: break;
  }
  if (rule.url.empty()) return "Type=" + std::string(name_of(*rule.type)) + " needs Url";
  const bool sends_key =
      has_key && (rule.type == NotifyType::kAlertmanager || rule.type == NotifyType::kPagerDuty ||
                  rule.type == NotifyType::kSns);
  if (sends_key && !keeps_secrets(*parse_url(rule.url)))
    return "a key is not sent over http: Url must be https";
  return std::nullopt;
}

}  // namespace

std::string_view name_of(NotifyType type) {
  switch (type) {
    case NotifyType::kWebhook: return "webhook";
    case NotifyType::kSlack: return "slack";
    case NotifyType::kAlertmanager: return "alertmanager";
    case NotifyType::kPagerDuty: return "pagerduty";
    case NotifyType::kSns: return "sns";
    case NotifyType::kEmail: return "email";
  }
  return "webhook";
}

std::span<const NotifyKey> notify_keys() { return kKeys; }

Result<NotifyRule> parse_notify_rule(const ConfLine& line, std::string_view origin) {
  NotifyRule rule;
  rule.line = line.number;
  for (const auto& [name, value] : line.fields) {
    if (!is_plain(value))
      return conf_error(origin, line.number,
                        name + " must not contain #, \\ or control characters");
    if (equals_ignoring_case(name, "Notify")) {
      rule.name = value;
      continue;
    }
    const auto* key = find_key(name);
    if (!key) return conf_error(origin, line.number, "a Notify has no '" + name + "'");
    if (const auto problem = key->set(rule, value))
      return conf_error(origin, line.number,
                        std::string(key->name) + "=" + value + ": " + *problem);
  }
  if (const auto problem = missing_part(rule)) return conf_error(origin, line.number, *problem);
  return rule;
}

std::string to_line(const NotifyRule& rule) {
  std::string line = "Notify=" + rule.name;
  for (const auto& key : kKeys) {
    const auto value = key.get(rule);
    if (value.empty()) continue;
    const bool blank = value.find(' ') != std::string::npos;
    line += " " + std::string(key.name) + "=" + (blank ? "\"" + value + "\"" : value);
  }
  return line;
}

}  // namespace acrf
