// SPDX-License-Identifier: GPL-2.0-or-later
// A slurmctld that a replay drives: its clock, its queue and its scheduling passes. libslurm keeps
// its configuration per process, so there is one controller per process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/gpu_group.h"
#include "core/result.h"
#include "job_mix.h"
#include "replay_page.h"

namespace acrf::perf {

struct HeldNode {
  int node = 0;  // from 0
  GpuMask gpus = 0;
};

struct HeldJob {
  std::uint32_t id = 0;
  std::vector<HeldNode> nodes;
};

// The clock and backfill's turns, in a file that slurmctld maps through replay_preload.so. Make it
// before slurmctld starts.
class ReplayPage {
 public:
  // Also names the file in this process's environment, which slurmctld inherits.
  static Result<ReplayPage> create(const std::string& path);
  // To so many seconds after the first call. There it stays, up to fractions, until the next.
  void set_clock(std::int64_t seconds);
  void give_backfill_turn() { page().backfill_turn = page().backfill_turn + 1; }
  // Whether slurmctld let the select plugin choose this node when it started the job.
  bool was_offered(std::uint32_t job, int node) const;

 private:
  explicit ReplayPage(replay_file_t* file) : file_(file) {}
  volatile replay_page_t& page() { return file_->page; }
  replay_file_t* file_;  // mapped until the process ends
  std::int64_t epoch_s_ = 0;
};

class Controller {
 public:
  // SLURM_CONF names the cluster.
  Controller(const std::string& slurm_conf, ReplayPage& page);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // The job's id.
  Result<std::uint32_t> submit(const Job& job);
  Status cancel(std::uint32_t id);
  // One pass of the main scheduler, at once, to its end.
  Status run_main_scheduler();
  // One pass of backfill, to its end; there must be jobs pending.
  Status run_backfill();
  // Jobs that hold nodes, by id.
  Result<std::vector<HeldJob>> held_jobs();

 private:
  ReplayPage& page_;
};

// slurm.conf's lines for a replay: nothing is scheduled but by the calls above, and a pass may take
// as long as it needs.
extern const char kReplayScheduling[];

}  // namespace acrf::perf
