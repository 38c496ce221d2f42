// SPDX-License-Identifier: GPL-2.0-or-later
// The jobs of the placement replay: Philly's sizes and durations, and large jobs beside them so
// that the mix has Kalos' mean size, greatest size and GPU time per job; all of it at three times
// the traces' pace. The same for a seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"

namespace acrf::perf {

inline constexpr int kGpusPerNode = 8;

struct TraceJob {
  int gpus = 1;
  double duration_s = 0;
};

// Where jobs are drawn from.
struct JobPool {
  std::string origin;  // what it is, for a reader
  std::vector<TraceJob> small;
  // Of the whole mix, from which the share and the length of large jobs follow.
  double mean_gpus = 0;
  int most_gpus = 0;
  double mean_gpu_seconds = 0;
};

// `directory` holds philly/philly_sia.csv and acme/cluster_summary.csv.
Result<JobPool> read_pool(const std::string& directory);
JobPool synthetic_pool(std::uint64_t seed);

struct Job {
  std::int64_t arrival_s = 0;
  std::int64_t duration_s = 0;
  int nodes = 1;
  int gpus_per_node = 1;
  int gpus() const { return nodes * gpus_per_node; }
};

// A replay has jobs that are there at its start, then a load that a cluster can carry, then more
// than it can carry.
struct LoadPlan {
  int cluster_gpus = 0;
  double steady_load = 0.85;  // GPU time asked for, of what there is
  double saturating_load = 1.5;
  std::int64_t saturated_from_s = 24000;
  std::int64_t end_s = 36000;
  std::uint64_t seed = 1;
};

// By arrival. Those that arrive at 0 are what a cluster holds that has long carried the steady
// load: they have run for a while.
std::vector<Job> draw_jobs(const JobPool& pool, const LoadPlan& plan);

}  // namespace acrf::perf
