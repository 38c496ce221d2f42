// SPDX-License-Identifier: GPL-2.0-or-later
// The main road, walked on a live cluster and watched with the commands a user has: a training job
// runs, one of its nodes loses a GPU, the node is drained, the job comes back elsewhere and goes on
// from its newest complete checkpoint.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/result.h"
#include "minicluster/cluster.h"

namespace acrf::minicluster {

struct JobLook {
  std::string state;  // scontrol's JobState
  std::string reason;
  int restarts = 0;
  std::vector<std::string> nodes;
};

struct NodeLook {
  bool drained = false;
  std::string reason;
};

Result<JobLook> look_at_job(const Cluster& cluster, const std::string& job);
NodeLook look_at_node(const Cluster& cluster, const std::string& node);

// A job that trains with contrib/examples; gives its id.
struct TrainingJob {
  std::string checkpoint_dir;
  std::string output;
  std::vector<std::string> variables;  // TRAIN_...
  std::vector<std::string> options;    // further options of sbatch
  bool resilient = true;               // --acrf-policy=requeue
};
Result<std::string> submit(const Cluster& cluster, const TrainingJob& job);

// "resumed from" paths in a training job's output, oldest first.
std::vector<std::string> resumptions(const std::string& output);

// Seconds after the injection, by this process's clock; below 0: not seen.
struct FaultRun {
  std::string job;
  std::string node;
  std::string drain_reason;
  std::string resumed_from;
  std::vector<std::string> nodes_before;
  std::vector<std::string> nodes_after;
  double seen_s = -1;
  double drained_s = -1;
  double pending_s = -1;
  double running_s = -1;
  double resumed_s = -1;
};

// Called with the seconds since the injection and what was seen.
using Narrator = std::function<void(double, const std::string&)>;

// Does the whole walk once, with files in a directory `name` of the cluster, and cancels the job at
// the end. An Error names the first thing that was not as it must be.
Result<FaultRun> run_fault(Cluster& cluster, const std::string& name, const Narrator& narrate);

// Mends the GPU and puts the node back into service, as an admin would.
Status restore_node(Cluster& cluster, const std::string& node);

}  // namespace acrf::minicluster
