// SPDX-License-Identifier: GPL-2.0-or-later
// Counters and readings over time. A counter that went down was reset or has wrapped: its new value
// is a new baseline, and what was missed in between is not guessed.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace acrf {

// How much a counter has grown within a sliding window.
class CounterWindow {
 public:
  explicit CounterWindow(std::int64_t window_s) : window_s_(window_s) {}

  // Returns the growth since the last reading; 0 for the first one and after a reset.
  std::uint64_t observe(std::uint64_t value, std::int64_t now_s);
  // Adds growth that the caller knows of.
  void add(std::uint64_t growth, std::int64_t now_s);

  std::uint64_t growth(std::int64_t now_s) const;

 private:
  std::int64_t window_s_;
  std::optional<std::uint64_t> last_;
  std::deque<std::pair<std::int64_t, std::uint64_t>> steps_;  // at most 61
};

// True readings among the last few. It holds once K of N are true and lets go when none is.
class KOfN {
 public:
  KOfN(int k, int n) : k_(k), n_(n) {}

  bool observe(bool reading);
  bool holds() const { return holds_; }

 private:
  int k_, n_;
  std::deque<bool> readings_;
  bool holds_ = false;
};

// A counter's growth per minute, judged K of N minutes.
class MinuteRate {
 public:
  MinuteRate(std::uint64_t limit, int k, int n) : limit_(limit), minutes_(k, n) {}

  // Whether the growth was at least `limit` in K of the last N minutes.
  bool observe(std::uint64_t value, std::int64_t now_s);

 private:
  std::uint64_t limit_;
  KOfN minutes_;
  std::optional<std::uint64_t> last_;
  std::uint64_t growth_ = 0;
  std::int64_t minute_ends_s_ = 0;
};

}  // namespace acrf
