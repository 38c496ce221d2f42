// SPDX-License-Identifier: GPL-2.0-or-later
// How often a job should write a checkpoint: seldom enough that writing costs little, often enough
// that a failure costs little. The best interval follows from what one checkpoint costs and from
// how often the job's nodes fail; both are estimated here, and what an interval costs is computed
// exactly for failures that come independently at a constant rate.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace acrf {

// Unexpected stops per node-day, 8 GPUs a node: Llama 3 on 16,384 H100 (arXiv:2407.21783) had 3.79
// per 1,000. It lies between Meta's RSC-1 (6.50) and RSC-2 (2.34, arXiv:2410.21680).
inline constexpr double kPublishedFailuresPerNodeDay = 3.79e-3;

// How much of a cluster's own history weighs as much as the published rate. The three published
// clusters differ by half of their mean; a gamma distribution as wide as that has a shape of 4: it
// is worth 4 failures, or about 1,000 node-days.
inline constexpr double kPublishedNodeDays = 1000;

inline constexpr int kGpusPerNode = 8;
inline constexpr double kAssumedCheckpointCost_s = 60;
inline constexpr double kAssumedRestart_s = 300;  // the short end of the published 5 to 20 minutes

// `auto` never asks for less than one checkpoint a day: jobs also fail of what no node is guilty
// of.
inline constexpr std::int64_t kLongestAutoInterval_s = 86'400;

// What the cluster has seen of nodes in service; both 0 on a new one.
struct FailureHistory {
  double failures = 0;
  double node_days = 0;
};

// Mean of the rate after the history, the published rate being the gamma prior. Always above 0.
double failures_per_node_day(const FailureHistory& history);

int nodes_for_gpus(int gpus);

// Mean time between two failures that hit the job, in seconds. `nodes` is at least 1.
double job_mtbf_s(int nodes, double failures_per_day_and_node);

// Seconds that the job stops for one checkpoint: as declared, else the median of the measured ones,
// else kAssumedCheckpointCost_s.
double checkpoint_cost_s(std::optional<double> declared, std::vector<double> measured);

// Seconds of work between two checkpoints, by Daly's formula of 2006; the MTBF where a checkpoint
// takes at least twice that long and the formula ends. At least 1.
double best_interval_s(double cost_s, double mtbf_s);

// Best interval in whole seconds, up to kLongestAutoInterval_s, as ACRF_CHECKPOINT_INTERVAL has it.
std::int64_t auto_interval_s(int nodes, const FailureHistory& history, double cost_s);

// Expected wall time per unit of work, beyond the work itself.
struct Overhead {
  double checkpoints = 0;  // writing those that were completed
  double lost = 0;         // work and unfinished checkpoints that a failure undid
  double restarts = 0;     // getting going again, including restarts that failed
  double total() const { return checkpoints + lost + restarts; }
};

// Exact for exponential failures, which may also hit a checkpoint or a restart. Infinite where the
// job would practically never finish.
Overhead split_overhead(double interval_s, double cost_s, double mtbf_s, double restart_s);
double overhead(double interval_s, double cost_s, double mtbf_s, double restart_s);

struct CheckpointInterval {
  bool automatic = false;
  std::int64_t seconds = 0;  // unless automatic
};

// "auto", or a duration of at least a second.
Result<CheckpointInterval> parse_interval(std::string_view text);

}  // namespace acrf
