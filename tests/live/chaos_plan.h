// SPDX-License-Identifier: GPL-2.0-or-later
// What a chaos run does and when, all of it drawn from the seed before the cluster starts: jobs to
// submit, and disturbances with their beginnings, ends and victims. Nothing that happens during the
// run changes the plan.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace acrf::minicluster {

enum class Disturbance : int {
  kControllerKilled,
  kControllerFrozen,
  kControllerLost,  // killed for so long that the backup takes over
  kBackupKilled,
  kBackupFrozen,
  kSlurmdKilled,
  kSlurmdFrozen,
  kHealthdKilled,
  kHealthdFrozen,
  kHubKilled,
  kHubFrozen,
  kProcessKilled,  // of a job: its script, srun or a rank
  kProcessFrozen,
  kNodeCutOff,  // from the network
  kNodeKilled,  // every process on it, as when the power goes
  kDiskFull,    // under acrf-healthd's StateDir
  kGpuLost,     // needs a reboot
  kGpuToReset,
  kProgramFault,  // an Xid that is the program's doing: nobody may act
};

std::string_view name_of(Disturbance kind);
const std::vector<Disturbance>& all_disturbances();

struct PlannedDisturbance {
  std::int64_t at_ms = 0;
  std::int64_t lasts_ms = 0;  // 0: there is nothing to undo
  Disturbance kind{};
  int node = 0;       // from 0; of no meaning for controllers and processes
  unsigned pick = 0;  // which process of those that are there
};

struct PlannedJob {
  std::int64_t at_ms = 0;
  int nodes = 1;
  int gpus_per_node = 1;
  int steps = 10;
  bool failover = false;  // one of its nodes is a spare
};

struct ChaosPlan {
  std::vector<PlannedJob> jobs;                  // by time
  std::vector<PlannedDisturbance> disturbances;  // by time
};

ChaosPlan chaos_plan(std::uint64_t seed, int seconds, int nodes);

}  // namespace acrf::minicluster
