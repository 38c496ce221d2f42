// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/interval.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/duration.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr double kSecondsPerDay = 86'400;

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// e^x - 1 - x without cancellation: for rare failures all that is lost is in it.
double exp_beyond_linear(double x) {
  if (x > 0.01) return std::expm1(x) - x;
  return x * x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5)));
}

}  // namespace

double failures_per_node_day(const FailureHistory& history) {
  const double prior_failures = kPublishedFailuresPerNodeDay * kPublishedNodeDays;
  return (prior_failures + history.failures) / (kPublishedNodeDays + history.node_days);
}

int nodes_for_gpus(int gpus) { return gpus / kGpusPerNode + (gpus % kGpusPerNode > 0 ? 1 : 0); }

double job_mtbf_s(int nodes, double failures_per_day_and_node) {
  return kSecondsPerDay / (failures_per_day_and_node * nodes);
}

double checkpoint_cost_s(std::optional<double> declared, std::vector<double> measured) {
  if (declared) return *declared;
  return measured.empty() ? kAssumedCheckpointCost_s : median(measured);
}

double best_interval_s(double cost_s, double mtbf_s) {
  if (cost_s >= 2 * mtbf_s) return std::max(1.0, mtbf_s);
  const double root = std::sqrt(cost_s / (2 * mtbf_s));
  const double interval =
      std::sqrt(2 * cost_s * mtbf_s) * (1 + root / 3 + root * root / 9) - cost_s;
  return std::max(1.0, interval);
}

std::int64_t auto_interval_s(int nodes, const FailureHistory& history, double cost_s) {
  const double best = best_interval_s(cost_s, job_mtbf_s(nodes, failures_per_node_day(history)));
  return std::llround(std::min(best, static_cast<double>(kLongestAutoInterval_s)));
}

// Work of one interval plus its checkpoint is tried until no failure comes in between. With s for
// its length in MTBFs, e^s - 1 failures are expected, and the tries take e^s - 1 MTBFs together, of
// which s is the one that succeeds. A restart of r MTBFs likewise takes e^r - 1.
Overhead split_overhead(double interval_s, double cost_s, double mtbf_s, double restart_s) {
  const double segment = (interval_s + cost_s) / mtbf_s;
  const double mtbf_per_work = mtbf_s / interval_s;
  Overhead result;
  result.checkpoints = cost_s / interval_s;
  result.lost = exp_beyond_linear(segment) * mtbf_per_work;
  if (restart_s > 0)  // infinity times 0 is no number
    result.restarts = std::expm1(segment) * std::expm1(restart_s / mtbf_s) * mtbf_per_work;
  return result;
}

double overhead(double interval_s, double cost_s, double mtbf_s, double restart_s) {
  return split_overhead(interval_s, cost_s, mtbf_s, restart_s).total();
}

Result<CheckpointInterval> parse_interval(std::string_view text) {
  if (equals_ignoring_case(text, "auto")) return CheckpointInterval{true, 0};
  const auto seconds = parse_duration_s(text);
  if (!seconds)
    return Error{ErrorCode::kInvalid, "'" + std::string(text) +
                                          "' is not a checkpoint interval: auto, " +
                                          std::string(kDurationForms)};
  if (*seconds == 0)
    return Error{ErrorCode::kInvalid, "'" + std::string(text) +
                                          "' is not a checkpoint interval: it must be at least one "
                                          "second, or auto"};
  return CheckpointInterval{false, *seconds};
}

}  // namespace acrf
