// SPDX-License-Identifier: GPL-2.0-or-later
// How good placements are. Keeps its own books of what is free, so that each placement is held
// against the best that was to be had at that moment, among the nodes that slurmctld offered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller.h"
#include "core/gpu_group.h"
#include "core/leaf_share.h"
#include "core/ring_pack.h"
#include "core/topology.h"
#include "job_mix.h"

namespace acrf::perf {

// Sum of what was got and of the best that could have been got.
struct Compared {
  double got = 0, best = 0;
  int count = 0;
  void add(double one_got, double one_best);
  void add(const Compared& other);
  double ratio() const { return best > 0 ? got / best : 1; }
  double mean() const { return count ? got / count : 0; }
};

struct Placements {
  Compared ring, all_to_all;  // best all-to-all is not computed
  Compared leaves;
  Compared links;  // of jobs with 2 to 7 GPUs on a node
  int crossing_pods = 0;
  int avoidably = 0;  // of those, although one pod had room
  void add(const Placements& other);
};

// Who started a job. Backfill keeps nodes free for jobs that wait and does not offer them.
enum class StartedBy { kMain, kBackfill };

// GPU seconds since the last reset.
struct Usage {
  double all = 0, used = 0;
  double on_partly_used_nodes = 0;  // free ones
  double utilisation() const { return all > 0 ? used / all : 0; }
  double fragmentation() const { return all > used ? on_partly_used_nodes / (all - used) : 0; }
};

class QualityBooks {
 public:
  QualityBooks(const Topology& topology, GpuGroups gpus);

  // False: something that was not free was given.
  bool start(const HeldJob& job, int gpus_per_node);
  // How the job, which is about to start, is placed; counts in placements(). `offered`, by node:
  // among which the select plugin could choose.
  void judge(const HeldJob& job, int gpus_per_node, const std::vector<bool>& offered,
             StartedBy by);
  void end(const HeldJob& job);
  void pass_time(double seconds);
  void reset_usage() { usage_ = {}; }

  const Placements& placements(StartedBy by) const { return placements_[static_cast<int>(by)]; }
  const Usage& usage() const { return usage_; }

 private:
  void judge_network(const HeldJob& job, Placements& placements);
  void judge_links(const HeldJob& job, int gpus_per_node, const std::vector<bool>& offered,
                   Placements& placements);
  std::vector<LeafShare> shares_of(const HeldJob& job) const;
  void count_suitable(int gpus_per_node, const std::vector<bool>& offered);
  bool one_pod_has(int nodes) const;
  int fewest_leaves(int nodes) const;

  const Topology& topology_;
  GpuGroups gpus_;
  RingPack pack_;
  std::vector<GpuMask> free_;  // by node
  std::vector<int> suitable_;  // nodes, by leaf
  Placements placements_[2];
  Usage usage_;
};

// Two NVLink islands, the even GPUs and the odd ones, as ClusterOptions::gpu_islands has them.
GpuGroups island_gpus();

}  // namespace acrf::perf
