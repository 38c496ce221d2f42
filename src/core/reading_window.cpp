// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/reading_window.h"

#include <algorithm>

namespace acrf {
namespace {

constexpr std::int64_t kStepsPerWindow = 60;

}  // namespace

void SlidingSum::add(std::int64_t now_s, std::uint64_t amount) {
  while (!steps_.empty() && steps_.front().first <= now_s - window_s_) steps_.pop_front();
  const auto step_s = std::max<std::int64_t>(window_s_ / kStepsPerWindow, 1);
  if (!steps_.empty() && now_s - steps_.back().first < step_s) {
    steps_.back().second += amount;
  } else {
    steps_.emplace_back(now_s, amount);
  }
}

std::uint64_t SlidingSum::sum(std::int64_t now_s) const {
  std::uint64_t sum = 0;
  for (const auto& [at_s, amount] : steps_)
    if (at_s > now_s - window_s_) sum += amount;
  return sum;
}

void CounterWindows::add(std::int64_t now_s, std::uint64_t amount) {
  const auto window = now_s / seconds_;
  if (windows_.empty() || windows_.back().first < window) windows_.emplace_back(window, 0);
  windows_.back().second += amount;
  while (windows_.front().first <= window - count_) windows_.pop_front();
}

int CounterWindows::reaching(std::uint64_t limit) const {
  return static_cast<int>(std::count_if(windows_.begin(), windows_.end(), [&](const auto& window) {
    return window.second >= limit;
  }));
}

bool KOfN::observe(bool reading) {
  readings_.push_back(reading);
  if (readings_.size() > static_cast<std::size_t>(n_)) readings_.pop_front();
  return hysteresis_.update(static_cast<int>(std::count(readings_.begin(), readings_.end(), true)),
                            k_);
}

bool Persistent::update(std::int64_t now_s, bool seen) {
  if (!seen) {
    looks_ = 0;
    return false;
  }
  if (looks_++ == 0) since_s_ = now_s;
  return looks_ >= 2 && now_s - since_s_ >= seconds_;
}

}  // namespace acrf
