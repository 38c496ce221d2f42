// SPDX-License-Identifier: GPL-2.0-or-later
// The whole cluster from slurmctld, again and again: what has not changed since the last look costs
// slurmctld and the network next to nothing. Needs a SlurmClient in the process. Calls block.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/fleet.h"
#include "core/gpu_group.h"
#include "core/result.h"

namespace acrf {

struct WatchedNode {
  FleetNode node;
  std::string state;    // as sinfo has it: "IDLE+DRAIN"
  std::string address;  // as slurm.conf has it
  int gpus = 0;
  bool busy = false;  // a job has some of it
};

struct WatchedJob {
  std::uint32_t id = 0;
  std::string name, user, partition, state, reason, nodes, admin_comment;
  std::vector<std::pair<std::string, GpuMask>> gpus_on;  // in the order of `nodes`
  int gpus = 0;
  std::int64_t submit_unix_s = 0;  // of a requeued job: of its requeue
  std::int64_t start_unix_s = 0, end_unix_s = 0;  // 0: not yet
  unsigned restarts = 0;
  std::int64_t priority = 0;
};

class SlurmWatch {
 public:
  struct Nodes {
    std::vector<WatchedNode> nodes;
    std::int64_t now_unix_s = 0;  // slurmctld's clock
  };
  // Nothing: as it was.
  Result<std::optional<Nodes>> nodes();
  Result<std::optional<std::vector<WatchedJob>>> jobs();
  // slurm.conf's ClusterName; empty while slurmctld does not say.
  const std::string& cluster();

 private:
  const std::string& user_name(std::uint32_t user);

  std::int64_t nodes_at_ = 0, partitions_at_ = 0, jobs_at_ = 0;
  std::map<std::string, std::vector<std::pair<int, int>>> partitions_;  // ranges of node numbers
  std::map<std::uint32_t, std::string> users_;
  std::string cluster_;
};

}  // namespace acrf
