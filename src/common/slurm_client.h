// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld through libslurm. Calls block, for tens of seconds while a controller fails over, and
// fail with kUnavailable when none answers: call from a thread that may wait, and call again.
// libslurm keeps its configuration per process, so there is one client per process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/cluster_state.h"
#include "core/recovery.h"
#include "core/result.h"

namespace acrf {

class SlurmClient {
 public:
  SlurmClient();
  ~SlurmClient();
  SlurmClient(const SlurmClient&) = delete;
  SlurmClient& operator=(const SlurmClient&) = delete;

  Result<NodeView> node(const std::string& name);

  // Jobs that slurmctld knows and that use or used the node, just ended ones included.
  Result<std::vector<JobView>> jobs_of_node(const std::string& name);

  // All nodes, with what is free on them: nothing on one that takes no jobs. How their GPUs are
  // linked slurmctld does not tell.
  Result<ClusterState> cluster_state();

  // In Slurm's order; none while the job has no nodes.
  Result<std::vector<std::string>> nodes_of_job(JobId job);

  // Without a reason the node keeps the one it has.
  Status drain(const std::string& node, const std::optional<std::string>& reason);

  // Where slurmctld keeps its state, on its own host.
  Result<std::string> state_directory();

  // Batch jobs only, running or just ended; a held requeue waits for `scontrol release`.
  Status requeue(JobId job, bool hold);
};

}  // namespace acrf
