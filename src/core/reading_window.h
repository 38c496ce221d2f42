// SPDX-License-Identifier: GPL-2.0-or-later
// Counters and K-of-N windows: what the sampling rules are made of. Time comes as an argument.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "core/gpu_sample.h"

namespace acrf {

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

 private:
  Reading last_;
};

// Amounts per window of `seconds`, of which the last `count` are kept.
class CounterWindows {
 public:
  explicit CounterWindows(int count, std::int64_t seconds = 60)
      : count_(count), seconds_(seconds) {}

  void add(std::int64_t now_s, std::uint64_t amount) {
    const auto window = now_s / seconds_;
    if (windows_.empty() || windows_.back().first < window) windows_.emplace_back(window, 0);
    windows_.back().second += amount;
    while (windows_.front().first <= window - count_) windows_.pop_front();
  }

  // How many of the windows hold at least `limit`.
  int reaching(std::uint64_t limit) const {
    int reached = 0;
    for (const auto& window : windows_) reached += window.second >= limit ? 1 : 0;
    return reached;
  }

 private:
  int count_;
  std::int64_t seconds_;
  std::deque<std::pair<std::int64_t, std::uint64_t>> windows_;
};

// Holds when a condition was seen in at least two looks in a row, the first and the last of them at
// least `seconds` apart.
class Persistent {
 public:
  explicit Persistent(std::int64_t seconds = 0) : seconds_(seconds) {}

  bool update(std::int64_t now_s, bool seen) {
    if (!seen) {
      looks_ = 0;
      return false;
    }
    if (looks_++ == 0) since_s_ = now_s;
    return looks_ >= 2 && now_s - since_s_ >= seconds_;
  }

 private:
  std::int64_t seconds_;
  std::int64_t since_s_ = 0;
  std::int64_t looks_ = 0;
};

}  // namespace acrf
