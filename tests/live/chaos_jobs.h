// SPDX-License-Identifier: GPL-2.0-or-later
// The jobs of a chaos run and the work they do: each step of a job's work is a line in its newest
// checkpoint, with the fence of the run that did it. Work that is lost is done again; work that is
// counted twice, or that a run which lost its nodes publishes over its successor's, shows in those
// lines and in the order in which checkpoints appear.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "chaos_plan.h"
#include "core/fence.h"
#include "core/result.h"
#include "minicluster/cluster.h"
#include "soak_records.h"

namespace acrf::minicluster {

struct ChaosJob {
  std::string id, directory;
  PlannedJob plan;
  std::set<std::string> checkpoints;  // seen so far
  std::vector<Fence> fences;          // as they were before those were looked at
  int failovers = 0;
};

class ChaosJobs {
 public:
  explicit ChaosJobs(Cluster& cluster) : cluster_(cluster) {}

  Status prepare();
  // Returns when slurmctld has accepted it, once, however often it had to be asked.
  Status submit(const PlannedJob& job);
  // True when slurmctld has saved all the jobs that it accepted and started. It does so some seconds
  // later by itself; one that is killed before forgets them, and starts what runs already once more
  // ("Duplicate jobid").
  bool are_saved() const;
  // What is wrong with checkpoints that have appeared since the last look.
  std::vector<std::string> look_at_checkpoints();
  // What is wrong with the job's end, given slurmctld's record of it; none: it has none.
  std::vector<std::string> judge_end(const ChaosJob& job, const JobRecord* record) const;

  const std::vector<ChaosJob>& all() const { return jobs_; }

 private:
  std::string find_accepted(const std::string& name) const;
  std::vector<std::string> look_at(ChaosJob& job) const;

  Cluster& cluster_;
  std::vector<ChaosJob> jobs_;
  std::int64_t submitted_ns_ = 0;  // by the file system's clock
};

// Completed, or held with a reason that people can read.
bool has_come_to_an_end(const JobRecord& record);

}  // namespace acrf::minicluster
