// SPDX-License-Identifier: GPL-2.0-or-later
// Who held which GPU and when, from slurmctld's own job records, and what was wrong with that. Two
// jobs on one GPU are found even when no look fell into the time they shared: records of ended jobs
// say when they ended. Nothing right is called wrong for coming close: where seconds are too coarse
// to tell what came first, the benefit of the doubt is given.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "soak_records.h"

namespace acrf::minicluster {

class SoakBooks {
 public:
  // One look at all jobs, asked for at `now`.
  void see(const std::vector<JobRecord>& jobs, Seconds now);
  // slurmctld may have lost what it last knew.
  void forget_runs() { runs_.clear(); }

  // Jobs may not start on these GPUs: since `now`, when slurmctld had confirmed it ...
  void begin_quarantine(const std::string& node, GpuMask gpus, Seconds now);
  // ... until `now`, before it is told otherwise.
  void end_quarantine(const std::string& node, Seconds now);
  // As it is in force.
  GpuMask quarantined(const std::string& node) const;

  const std::set<std::string>& wrongs() const { return wrongs_; }
  int runs_seen() const { return static_cast<int>(seen_.size()); }

 private:
  struct Run {
    std::string job;
    Seconds start, held_until;
  };
  struct Quarantine {
    GpuMask gpus;
    Seconds from, until;
  };
  void check_at_once(const std::vector<JobRecord>& jobs);
  void check_health(const JobRecord& job, const std::string& node, GpuMask gpus);
  void note_run(const std::string& node, int gpu, const Run& run);
  void forget_before(Seconds time);

  std::map<std::pair<std::string, int>, std::vector<Run>> runs_;  // by node and GPU
  std::map<std::string, std::vector<Quarantine>> quarantines_;
  std::set<std::string> seen_;  // job and start
  std::set<std::string> wrongs_;
};

// Where nodes and jobs, looked at in the same state, tell different stories, or a node has given
// more than it has.
std::vector<std::string> compare_books(const std::vector<JobRecord>& jobs,
                                       const std::vector<NodeRecord>& nodes);

}  // namespace acrf::minicluster
