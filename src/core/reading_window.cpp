// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/reading_window.h"

#include <algorithm>

#include "core/text.h"

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

std::string SlidingSum::to_word() const {
  std::string word;
  for (const auto& [at_s, amount] : steps_)
    word += (word.empty() ? "" : "/") + std::to_string(at_s) + ":" + std::to_string(amount);
  return word.empty() ? "-" : word;
}

void SlidingSum::take_word(std::string_view word) {
  std::deque<std::pair<std::int64_t, std::uint64_t>> steps;
  if (word == "-") return;
  for (const auto step : split(word, '/')) {
    const auto colon = step.find(':');
    const auto at_s = parse_unsigned(step.substr(0, colon));
    const auto amount =
        colon == std::string_view::npos ? std::nullopt : parse_unsigned(step.substr(colon + 1));
    if (!at_s || !amount || *at_s > INT64_MAX / 2 || steps.size() > kStepsPerWindow) return;
    if (!steps.empty() && steps.back().first > static_cast<std::int64_t>(*at_s)) return;
    steps.emplace_back(static_cast<std::int64_t>(*at_s), *amount);
  }
  steps_ = std::move(steps);
}

std::string SlidingGrowth::to_word() const {
  const auto last = counter_.last();
  return (last ? std::to_string(*last) : "-") + "+" + sum_.to_word();
}

void SlidingGrowth::take_word(std::string_view word) {
  const auto plus = word.find('+');
  if (plus == std::string_view::npos) return;
  counter_.remember(parse_unsigned(word.substr(0, plus)));
  sum_.take_word(word.substr(plus + 1));
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
