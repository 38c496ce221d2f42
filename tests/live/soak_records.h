// SPDX-License-Identifier: GPL-2.0-or-later
// What scontrol shows of jobs and nodes, as values: who holds which GPU.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu_group.h"

namespace acrf::minicluster {

using Seconds = std::int64_t;                       // since the epoch; slurmctld counts no finer
using GpusByNode = std::map<std::string, GpuMask>;  // nodes with at least one GPU

struct JobRecord {
  std::string id;
  std::string state;
  std::string reason;
  std::uint64_t restarts = 0;
  std::uint64_t priority = 0;  // 0: held
  Seconds start = 0;
  Seconds end = 0;
  GpusByNode gpus;

  // Suspended jobs keep their GPUs; completing ones have given them back.
  bool holds_gpus() const;
  bool has_ended() const;
};

struct NodeRecord {
  std::string name;
  std::string state;
  std::string comment;
  std::string reason;     // with blanks, and who gave it
  std::string allocated;  // AllocTRES
  std::uint64_t cpus = 0, cpus_allocated = 0;
  std::uint64_t memory_mb = 0, memory_allocated_mb = 0;
  // GresUsed by index. Its number is not looked at: that is a count by type, and plain Slurm gets
  // it wrong for jobs that run across slurmctld's restart (on each of its nodes a job counts with
  // all its GPUs).
  GpuMask gpus = 0;
  bool has_indices = false;  // not before the node has registered with slurmctld

  bool is_idle() const { return state == "IDLE"; }
  // Nothing is allocated, in any of the books that the node's record shows.
  bool is_empty() const;
};

// Of `scontrol -d -o show job` with SLURM_TIME_FORMAT=%s.
std::vector<JobRecord> read_jobs(std::string_view text);
// Of `scontrol -d -o show node`.
std::vector<NodeRecord> read_nodes(std::string_view text);

}  // namespace acrf::minicluster
