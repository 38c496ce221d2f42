// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/notify_message.h"

#include <time.h>

#include <nlohmann/json.hpp>

#include "common/signature.h"
#include "core/node_verdict.h"
#include "core/text.h"
#include "core/url.h"

namespace acrf {
namespace {

using nlohmann::ordered_json;

// Alertmanager takes an alert for resolved at endsAt. Nobody repeats ours, so it gets a long time.
constexpr std::int64_t kAlertLasts_ms = std::int64_t{7} * 86'400'000;
constexpr std::size_t kLongestSummary = 1000;
constexpr std::size_t kLongestSubject = 100;

std::string dump(const ordered_json& object) {
  return object.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

std::string time_as(const char* form, std::int64_t unix_s) {
  const time_t when = unix_s;
  struct tm parts = {};
  ::gmtime_r(&when, &parts);
  char text[64] = "";
  ::strftime(text, sizeof text, form, &parts);
  return text;
}

std::string utc_time(std::int64_t unix_ms) { return time_as("%Y-%m-%dT%H:%M:%SZ", unix_ms / 1000); }

ordered_json whole(const NotifyRule& rule, const Notice& notice) {
  ordered_json object = {{"id", id_of(notice)},          {"state", notice.state},
                         {"resolved", notice.resolved},  {"time", utc_time(notice.unix_ms)},
                         {"node", notice.node},          {"incident", notice.incident},
                         {"class", notice.fault_class},  {"severity", name_of(notice.severity)},
                         {"action", notice.action},      {"where", notice.where},
                         {"result", notice.result},      {"evidence", notice.evidence},
                         {"text", text_of(rule, notice)}};
  if (notice.more != 0) object["more"] = notice.more;
  return object;
}

HttpRequest json_request(const std::string& url, const ordered_json& body) {
  return {url, {"Content-Type: application/json"}, dump(body)};
}

HttpRequest to_webhook(const NotifyRule& rule, const Notice& notice, const std::string& key,
                       std::int64_t now_unix_s) {
  auto request = json_request(rule.url, whole(rule, notice));
  const auto now = std::to_string(now_unix_s);
  request.headers.push_back("X-ACRF-Id: " + id_of(notice));
  request.headers.push_back("X-ACRF-Timestamp: " + now);
  if (!key.empty())
    request.headers.push_back("X-ACRF-Signature: sha256=" +
                              to_hex(hmac_sha256(key, now + "." + request.body)));
  return request;
}

// Slack reads <, > and & as the beginning of something.
std::string slack_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

HttpRequest to_alertmanager(const NotifyRule& rule, const Notice& notice, const std::string& key) {
  const auto opened = notice.opened_unix_ms != 0 ? notice.opened_unix_ms : notice.unix_ms;
  const auto ends = notice.resolved ? notice.unix_ms : notice.unix_ms + kAlertLasts_ms;
  const ordered_json alert = {{"labels",
                               {{"alertname", "AcrfIncident"},
                                {"node", notice.node},
                                {"class", notice.fault_class},
                                {"severity", name_of(notice.severity)},
                                {"incident", notice.incident}}},
                              {"annotations",
                               {{"summary", text_of(rule, notice)},
                                {"action", notice.action},
                                {"where", notice.where},
                                {"result", notice.result},
                                {"evidence", notice.evidence},
                                {"id", id_of(notice)}}},
                              {"startsAt", utc_time(opened)},
                              {"endsAt", utc_time(ends)}};
  auto url = parse_url(rule.url);
  const bool bare = url && url->path == "/" && url->query.empty();
  auto request = json_request(bare ? url->scheme + "://" + url->host + "/api/v2/alerts" : rule.url,
                              ordered_json::array({alert}));
  if (!key.empty()) request.headers.push_back("Authorization: Bearer " + key);
  return request;
}

HttpRequest to_pagerduty(const NotifyRule& rule, const Notice& notice, const std::string& key) {
  const bool fatal = notice.severity == Severity::kFatal;
  return json_request(rule.url,
                      {{"routing_key", key},
                       {"event_action", notice.resolved ? "resolve" : "trigger"},
                       {"dedup_key", notice.incident.empty() ? id_of(notice) : notice.incident},
                       {"payload",
                        {{"summary", printable_line(text_of(rule, notice), kLongestSummary)},
                         {"source", notice.node},
                         {"severity", fatal ? "critical" : name_of(notice.severity)},
                         {"timestamp", utc_time(notice.unix_ms)},
                         {"component", notice.where},
                         {"class", notice.fault_class},
                         {"custom_details", whole(rule, notice)}}}});
}

// "arn:aws:sns:REGION:account:topic"
Result<HttpRequest> to_sns(const NotifyRule& rule, const Notice& notice, const std::string& key,
                           std::int64_t now_unix_s) {
  const auto url = parse_url(rule.url);
  const auto parts = split(rule.to.front(), ':');
  const auto words = split(key, ' ');
  if (!url || parts.size() < 6 || words.size() < 2 || words.size() > 3)
    return Error{ErrorCode::kInvalid,
                 "KeyFile must hold access key id and secret key, and To arn:aws:sns:REGION:..."};
  AwsKey aws{std::string(words[0]), std::string(words[1]), ""};
  if (words.size() == 3) aws.token = words[2];
  AwsRequest request{"POST", url->path, "", {}, ""};
  request.body = "Action=Publish&Message=" + encode_form(dump(whole(rule, notice))) +
                 "&Subject=" + encode_form(printable_line(text_of(rule, notice), kLongestSubject)) +
                 "&TopicArn=" + encode_form(rule.to.front()) + "&Version=2010-03-31";
  const auto now = aws_time(now_unix_s);
  request.headers = {{"content-type", "application/x-www-form-urlencoded"},
                     {"host", url->host},
                     {"x-amz-date", now}};
  if (!aws.token.empty()) request.headers.emplace_back("x-amz-security-token", aws.token);
  HttpRequest http{url->scheme + "://" + url->host + url->path, {}, request.body};
  for (const auto& [name, value] : request.headers) http.headers.push_back(name + ": " + value);
  http.headers.push_back("Authorization: " +
                         aws_authorization(aws, request, now, std::string(parts[3]), "sns"));
  return http;
}

}  // namespace

Result<HttpRequest> to_request(const NotifyRule& rule, const Notice& notice, const std::string& key,
                               std::int64_t now_unix_s) {
  switch (*rule.type) {
    case NotifyType::kWebhook: return to_webhook(rule, notice, key, now_unix_s);
    case NotifyType::kSlack:
      return json_request(rule.url.empty() ? key : rule.url,
                          {{"text", slack_text(text_of(rule, notice))}});
    case NotifyType::kAlertmanager: return to_alertmanager(rule, notice, key);
    case NotifyType::kPagerDuty: return to_pagerduty(rule, notice, key);
    case NotifyType::kSns: return to_sns(rule, notice, key, now_unix_s);
    case NotifyType::kEmail: break;
  }
  return Error{ErrorCode::kInvalid, "mail is not sent by HTTP"};
}

std::string to_mail(const NotifyRule& rule, const Notice& notice, std::int64_t now_unix_s) {
  std::string to;
  for (const auto& address : rule.to) to += (to.empty() ? "" : ", ") + address;
  // Every value is one printable line, or a log line could add headers of its own.
  const auto line = [](const std::string& text) { return printable_line(text, kLongestSummary); };
  std::string mail = "To: " + line(to) + "\n";
  mail += "Subject: " + printable_line("ACRF: " + text_of(rule, notice), kLongestSubject) + "\n";
  mail += "Date: " + time_as("%a, %d %b %Y %H:%M:%S +0000", now_unix_s) + "\n";
  mail += "X-ACRF-Id: " + line(id_of(notice)) + "\n";
  mail += "Auto-Submitted: auto-generated\nMIME-Version: 1.0\n";
  mail += "Content-Type: text/plain; charset=utf-8\n\n";
  mail += text_of(rule, notice) + "\n\n";
  const std::pair<const char*, std::string> fields[] = {
      {"node", notice.node},         {"incident", notice.incident},
      {"state", notice.state},       {"class", notice.fault_class},
      {"where", notice.where},       {"severity", std::string(name_of(notice.severity))},
      {"action", notice.action},     {"result", notice.result},
      {"evidence", notice.evidence},
  };
  for (const auto& [name, value] : fields)
    if (!value.empty()) mail += std::string(name) + ": " + line(value) + "\n";
  return mail;
}

}  // namespace acrf
