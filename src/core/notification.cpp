// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/notification.h"

#include <algorithm>
#include <tuple>

#include "core/node_verdict.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::size_t kLongestWord = 200;
constexpr std::size_t kLongestText = 2000;
constexpr std::int64_t kHour_ms = 3'600'000;

struct Placeholder {
  std::string_view name;
  std::string (*value)(const Notice& notice);
};

constexpr Placeholder kPlaceholders[] = {
    {"node", [](const Notice& notice) { return notice.node; }},
    {"class", [](const Notice& notice) { return notice.fault_class; }},
    {"severity", [](const Notice& notice) { return std::string(name_of(notice.severity)); }},
    {"action", [](const Notice& notice) { return notice.action; }},
    {"incident", [](const Notice& notice) { return notice.incident; }},
    {"evidence", [](const Notice& notice) { return notice.evidence; }},
    {"result", [](const Notice& notice) { return notice.result; }},
    {"where", [](const Notice& notice) { return notice.where; }},
    {"state", [](const Notice& notice) { return notice.state; }},
};

const Placeholder* find_placeholder(std::string_view name) {
  for (const auto& placeholder : kPlaceholders)
    if (placeholder.name == name) return &placeholder;
  return nullptr;
}

std::string fill(std::string_view text, const Notice& notice) {
  std::string filled;
  while (!text.empty()) {
    const auto open = text.find('{');
    filled += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const auto close = text.find('}', open);
    const auto* found = close == std::string_view::npos
                            ? nullptr
                            : find_placeholder(text.substr(open + 1, close - open - 1));
    // Values are not looked at again: a log line with "{node}" in it stays as it is.
    if (found) filled += found->value(notice);
    text.remove_prefix(close == std::string_view::npos ? text.size() : close + 1);
  }
  return filled;
}

}  // namespace

std::string id_of(const Notice& notice) {
  if (!notice.incident.empty()) return notice.incident + ":" + notice.state;
  return notice.node + ":" + notice.state + ":" + std::to_string(notice.unix_ms);
}

Notice bounded(Notice notice) {
  for (auto* word : {&notice.node, &notice.incident, &notice.state, &notice.fault_class,
                     &notice.action, &notice.where})
    *word = printable_line(*word, kLongestWord);
  for (auto* text : {&notice.result, &notice.evidence}) *text = printable_line(*text, kLongestText);
  return notice;
}

bool wants(const NotifyRule& rule, const Notice& notice) {
  if (notice.severity < rule.severity) return false;
  return rule.classes.empty() || std::find(rule.classes.begin(), rule.classes.end(),
                                           notice.fault_class) != rule.classes.end();
}

bool keeps_alerts(NotifyType type) {
  return type == NotifyType::kAlertmanager || type == NotifyType::kPagerDuty;
}

std::optional<std::string> template_problem(std::string_view text) {
  if (trim(text).empty()) return "must not be empty";
  while (true) {
    const auto open = text.find('{');
    if (open == std::string_view::npos) return std::nullopt;
    const auto close = text.find('}', open);
    if (close == std::string_view::npos) return "a { has no }";
    const auto name = text.substr(open + 1, close - open - 1);
    if (!find_placeholder(name)) return "{" + std::string(name) + "} stands for nothing";
    text.remove_prefix(close + 1);
  }
}

std::string text_of(const NotifyRule& rule, const Notice& notice) {
  if (notice.state == "summary")
    return printable_line(notice.node + ": " + std::to_string(notice.more) +
                              " more notifications were held back by RateLimit",
                          kLongestText);
  return printable_line(fill(rule.text, notice), kLongestText);
}

void HourlyLimit::forget(std::int64_t now_ms) {
  while (!sent_.empty() && now_ms - sent_.front() >= kHour_ms) sent_.pop_front();
}

bool HourlyLimit::admit(std::int64_t now_ms) {
  forget(now_ms);
  if (sent_.size() >= per_hour_) {
    ++held_back_;
    return false;
  }
  sent_.push_back(now_ms);
  return true;
}

std::optional<int> HourlyLimit::take_held_back(std::int64_t now_ms) {
  if (held_back_ == 0) return std::nullopt;
  forget(now_ms);
  if (sent_.size() >= per_hour_) return std::nullopt;
  sent_.push_back(now_ms);
  return std::exchange(held_back_, 0);
}

std::optional<std::int64_t> HourlyLimit::room_ms() const {
  if (held_back_ == 0) return std::nullopt;
  if (sent_.size() < per_hour_) return 0;
  return sent_[sent_.size() - per_hour_] + kHour_ms;
}

int retry_after_s(int failures) {
  constexpr int kFirst = 5, kLongest = 900;
  int wait = kFirst;
  for (int i = 1; i < failures && wait < kLongest; ++i) wait *= 2;
  return std::min(wait, kLongest);
}

std::size_t least_needed(std::span<const Notice> waiting) {
  const auto need = [](const Notice& notice) {
    return std::tuple(notice.resolved, notice.severity, notice.unix_ms);
  };
  const auto found =
      std::min_element(waiting.begin(), waiting.end(),
                       [&](const auto& a, const auto& b) { return need(a) < need(b); });
  return static_cast<std::size_t>(found - waiting.begin());
}

}  // namespace acrf
