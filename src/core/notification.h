// SPDX-License-Identifier: GPL-2.0-or-later
// What people are told: which notice goes to whom, in which words, how often at most, and when a
// message that could not be sent is tried again.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/notify_rule.h"

namespace acrf {

// A state that an incident has reached. Incident and state name it: the same again is no news.
struct Notice {
  std::string node;
  std::string incident;   // empty: of none (a test, a summary)
  std::string state;      // one word: opened, drained, failed, returned, braked, test, summary
  bool resolved = false;  // the incident's alert ends with this
  std::string fault_class;
  Severity severity = Severity::kInfo;
  std::string action;
  std::string where;
  std::string result;
  std::string evidence;
  std::int64_t opened_unix_ms = 0;  // when the incident began
  std::int64_t unix_ms = 0;
  int more = 0;  // of a summary: how many were held back
};

// Receivers know a repeated message by it.
std::string id_of(const Notice& notice);

// The notice with every text cut to its bound and made one printable line.
Notice bounded(Notice notice);

bool wants(const NotifyRule& rule, const Notice& notice);

// Where alerts stay open until they are resolved.
bool keeps_alerts(NotifyType type);

// What is wrong with a Template.
std::optional<std::string> template_problem(std::string_view text);

// The Template filled in. One printable line.
std::string text_of(const NotifyRule& rule, const Notice& notice);

// So many in any hour; counts what it holds back.
class HourlyLimit {
 public:
  explicit HourlyLimit(int per_hour) : per_hour_(static_cast<std::size_t>(per_hour)) {}

  bool admit(std::int64_t now_ms);
  // Not limited, and counted all the same.
  void count(std::int64_t now_ms) { sent_.push_back(now_ms); }

  // How many were held back, once there is room to say so: asking takes the room and starts a new
  // count. Nothing: none, or no room yet.
  std::optional<int> take_held_back(std::int64_t now_ms);
  // When that will be; nothing while nothing is held back.
  std::optional<std::int64_t> room_ms() const;

 private:
  void forget(std::int64_t now_ms);

  std::size_t per_hour_;
  std::deque<std::int64_t> sent_;
  int held_back_ = 0;
};

// Seconds until the next attempt after so many that failed: 5, 10, 20, ... 900.
int retry_after_s(int failures);

// After this a message is of no use any more.
inline constexpr std::int64_t kLongestWait_ms = std::int64_t{24} * 3'600'000;

// Which of the waiting notices makes room for another: the oldest of the least severity. Never one
// that ends an alert while there are others.
std::size_t least_needed(std::span<const Notice> waiting);

}  // namespace acrf
