// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/counter_window.h"

#include <algorithm>

namespace acrf {
namespace {

constexpr std::int64_t kStepsPerWindow = 60;

std::uint64_t growth_of(std::optional<std::uint64_t>& last, std::uint64_t value) {
  const auto growth = last && value > *last ? value - *last : 0;
  last = value;
  return growth;
}

}  // namespace

std::uint64_t CounterWindow::observe(std::uint64_t value, std::int64_t now_s) {
  const auto growth = growth_of(last_, value);
  if (growth > 0) add(growth, now_s);
  return growth;
}

void CounterWindow::add(std::uint64_t growth, std::int64_t now_s) {
  while (!steps_.empty() && steps_.front().first <= now_s - window_s_) steps_.pop_front();
  const auto step_s = std::max<std::int64_t>(window_s_ / kStepsPerWindow, 1);
  if (!steps_.empty() && now_s - steps_.back().first < step_s) {
    steps_.back().second += growth;
  } else {
    steps_.emplace_back(now_s, growth);
  }
}

std::uint64_t CounterWindow::growth(std::int64_t now_s) const {
  std::uint64_t sum = 0;
  for (const auto& [at_s, growth] : steps_)
    if (at_s > now_s - window_s_) sum += growth;
  return sum;
}

bool KOfN::observe(bool reading) {
  readings_.push_back(reading);
  if (readings_.size() > static_cast<std::size_t>(n_)) readings_.pop_front();
  const auto count = std::count(readings_.begin(), readings_.end(), true);
  holds_ = count >= k_ || (holds_ && count > 0);
  return holds_;
}

bool MinuteRate::observe(std::uint64_t value, std::int64_t now_s) {
  if (!last_) minute_ends_s_ = now_s + 60;
  growth_ += growth_of(last_, value);
  if (now_s >= minute_ends_s_) {
    minutes_.observe(growth_ >= limit_);
    growth_ = 0;
    minute_ends_s_ = now_s + 60;
  }
  return minutes_.holds();
}

}  // namespace acrf
