// SPDX-License-Identifier: GPL-2.0-or-later
// A trace on a live slurmctld. The replay keeps simulated time: jobs arrive and end at its ticks,
// and at each such tick slurmctld makes one pass of its main scheduler. When jobs still wait, one
// of backfill follows, unless the last was not long ago.
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <vector>

#include "controller.h"
#include "core/result.h"
#include "job_mix.h"
#include "quality.h"

namespace acrf::perf {

inline constexpr std::int64_t kTick_s = 60;
inline constexpr std::int64_t kBackfillInterval_s = 180;

struct Wait {
  int gpus = 0;
  double seconds = 0;
};

struct ReplayResult {
  Placements by_main, by_backfill;  // of all jobs but those at the start
  Usage steady, saturated;
  std::vector<Wait> waits;  // of jobs that arrived in the steady phase
  int never_started = 0;    // of those; they count as having waited until the end
  int started = 0;
  int ticks = 0;
};

class Replay {
 public:
  // All must outlive it; `jobs` are by arrival.
  Replay(Controller& controller, ReplayPage& page, QualityBooks& books,
         const std::vector<Job>& jobs, const LoadPlan& plan)
      : controller_(controller), page_(page), books_(books), jobs_(jobs), plan_(plan) {}

  Result<ReplayResult> run();

 private:
  struct Ending {
    std::int64_t time_s;
    HeldJob job;
    bool operator>(const Ending& other) const { return time_s > other.time_s; }
  };

  std::int64_t next_tick() const;
  void advance_to(std::int64_t time_s);
  Status tick();
  Status end_jobs();
  Status submit_jobs();
  Status schedule();
  Status note_starts(StartedBy by);
  Status note_start(const HeldJob& held, StartedBy by);
  std::vector<bool> offered_to(std::uint32_t job) const;
  void count_unstarted();

  Controller& controller_;
  ReplayPage& page_;
  QualityBooks& books_;
  const std::vector<Job>& jobs_;
  const LoadPlan& plan_;

  std::int64_t now_s_ = 0;
  std::int64_t next_backfill_s_ = 0;
  std::size_t arrived_ = 0;
  std::map<std::uint32_t, std::size_t> pending_;  // job's index by id
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> running_;
  ReplayResult result_;
};

}  // namespace acrf::perf
