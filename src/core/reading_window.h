// SPDX-License-Identifier: GPL-2.0-or-later
// Counters and readings over time: what the rules about GPUs and about the node are made of. Time
// comes as an argument. What is unknown changes nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace acrf {

using Reading = std::optional<std::uint64_t>;  // nothing: unknown

// A counter that may start again or wrap: a decrease is a new baseline and counts for nothing, and
// neither does the first value, which may be years old.
class Counter {
 public:
  // How far it has come since the last known value; 0 when that cannot be said.
  std::uint64_t increase(Reading value) {
    if (!value) return 0;
    const Reading before = std::exchange(last_, value);
    return before && *value > *before ? *value - *before : 0;
  }

  // For a restart.
  Reading last() const { return last_; }
  void remember(Reading last) { last_ = last; }

 private:
  Reading last_;
};

// What was added within the last `window_s` seconds, to about a sixtieth of them.
class SlidingSum {
 public:
  explicit SlidingSum(std::int64_t window_s) : window_s_(window_s) {}

  void add(std::int64_t now_s, std::uint64_t amount);
  std::uint64_t sum(std::int64_t now_s) const;

  // For a restart, as one word: "100:2/160:1"; nothing of a damaged one is taken over.
  std::string to_word() const;
  void take_word(std::string_view word);

 private:
  std::int64_t window_s_;
  std::deque<std::pair<std::int64_t, std::uint64_t>> steps_;  // at most 61
};

// How much a counter has grown within a sliding window.
class SlidingGrowth {
 public:
  explicit SlidingGrowth(std::int64_t window_s) : sum_(window_s) {}

  std::uint64_t observe(std::int64_t now_s, Reading value) {
    if (const auto grown = counter_.increase(value); grown > 0) sum_.add(now_s, grown);
    return sum_.sum(now_s);
  }

  // For a restart: "17/100:2", the counter before the sum.
  std::string to_word() const;
  void take_word(std::string_view word);

 private:
  Counter counter_;
  SlidingSum sum_;
};

// Amounts per window of `seconds`, of which the last `count` are kept.
class CounterWindows {
 public:
  explicit CounterWindows(int count, std::int64_t seconds = 60)
      : count_(count), seconds_(seconds) {}

  void add(std::int64_t now_s, std::uint64_t amount);

  // How many of the windows hold at least `limit`.
  int reaching(std::uint64_t limit) const;

 private:
  int count_;
  std::int64_t seconds_;
  std::deque<std::pair<std::int64_t, std::uint64_t>> windows_;
};

// Holds once `k` things speak for it, and until none does: what hovers about a limit is one case.
class Hysteresis {
 public:
  bool update(int count, int k) {
    holds_ = count >= k || (holds_ && count > 0);
    return holds_;
  }
  bool holds() const { return holds_; }

 private:
  bool holds_ = false;
};

// True readings among the last N: K of them, with hysteresis.
class KOfN {
 public:
  KOfN(int k, int n) : k_(k), n_(n) {}

  bool observe(bool reading);
  bool holds() const { return hysteresis_.holds(); }

 private:
  int k_, n_;
  std::deque<bool> readings_;
  Hysteresis hysteresis_;
};

// A counter that grows by at least `limit` a minute in K of N minutes, with hysteresis.
class MinuteRate {
 public:
  MinuteRate(std::uint64_t limit, int k, int n) : limit_(limit), k_(k), minutes_(n) {}

  bool observe(std::int64_t now_s, Reading value) {
    minutes_.add(now_s, counter_.increase(value));
    return hysteresis_.update(minutes_.reaching(limit_), k_);
  }

 private:
  std::uint64_t limit_;
  int k_;
  Counter counter_;
  CounterWindows minutes_;
  Hysteresis hysteresis_;
};

// Holds when a condition was seen in at least two looks in a row, the first and the last of them at
// least `seconds` apart.
class Persistent {
 public:
  explicit Persistent(std::int64_t seconds = 0) : seconds_(seconds) {}

  bool update(std::int64_t now_s, bool seen);

 private:
  std::int64_t seconds_;
  std::int64_t since_s_ = 0;
  std::int64_t looks_ = 0;
};

}  // namespace acrf
