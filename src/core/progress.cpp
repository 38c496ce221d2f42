// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/progress.h"

#include <algorithm>

namespace acrf {
namespace {

constexpr std::size_t kKeptTimes = 50;
constexpr std::size_t kKeptSteps = 16;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::optional<double> ProgressWatch::usual_step_s() const {
  if (static_cast<int>(step_times_.size()) < rules_.steps_to_know) return std::nullopt;
  return median(step_times_);
}

// The others did the step so long ago that nobody remembers when.
bool ProgressWatch::is_forgotten(std::int64_t step) const {
  return arrivals_.size() == kKeptSteps && step < arrivals_.begin()->first;
}

// Compared with the first at the same step: those who wait for a slow rank are not slow.
void ProgressWatch::note_lateness(Rank& rank, std::int64_t step, double at_s) {
  const auto usual = usual_step_s();
  const auto known = arrivals_.find(step);
  const bool late = usual && (is_forgotten(step) || (known != arrivals_.end() &&
                                                     at_s - known->second.front() >
                                                         (rules_.straggler_factor - 1) * *usual));
  if (!late)
    rank.behind_since_s = -1;
  else if (rank.behind_since_s < 0)
    rank.behind_since_s = at_s;
  if (is_forgotten(step)) return;
  arrivals_[step].push_back(at_s);
  while (arrivals_.size() > kKeptSteps) arrivals_.erase(arrivals_.begin());
}

void ProgressWatch::note(int number, std::int64_t step, double at_s) {
  Rank& rank = ranks_[number];
  if (step <= rank.step) return;
  const bool is_first = !arrivals_.contains(step) && !is_forgotten(step);
  if (is_first && rank.step >= 0) {
    step_times_.push_back((at_s - rank.at_s) / static_cast<double>(step - rank.step));
    if (step_times_.size() > kKeptTimes) step_times_.erase(step_times_.begin());
  }
  note_lateness(rank, step, at_s);
  rank.step = step;
  rank.at_s = at_s;
}

ProgressVerdict ProgressWatch::judge(double now_s) const {
  ProgressVerdict verdict;
  const auto usual = usual_step_s();
  if (!usual || ranks_.empty()) return verdict;
  std::int64_t lowest = ranks_.begin()->second.step, highest = lowest;
  double last_s = 0;
  for (const auto& [number, rank] : ranks_) {
    lowest = std::min(lowest, rank.step);
    highest = std::max(highest, rank.step);
    last_s = std::max(last_s, rank.at_s);
  }
  verdict.silent_s = now_s - last_s;
  verdict.hangs = verdict.silent_s >= std::max(rules_.hang_floor_s, rules_.hang_factor * *usual);
  for (const auto& [number, rank] : ranks_) {
    if (verdict.hangs && lowest < highest && rank.step == lowest)
      verdict.suspects.push_back(number);
    if (!verdict.hangs && rank.behind_since_s >= 0 &&
        rank.at_s - rank.behind_since_s >= rules_.straggler_s)
      verdict.stragglers.push_back(number);
  }
  return verdict;
}

}  // namespace acrf
