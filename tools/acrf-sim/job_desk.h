// SPDX-License-Identifier: GPL-2.0-or-later
// The simulator's jobs at slurmctld: submits them with sbatch as a user would, and reads what
// squeue and the jobs themselves say.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "books.h"
#include "minicluster/cluster.h"
#include "options.h"

namespace acrf::sim {

class JobDesk {
 public:
  JobDesk(const minicluster::Cluster& cluster, const Options& options)
      : cluster_(cluster), options_(options) {}

  Status prepare();
  // Its id.
  Result<std::string> submit(const PlannedJob& job, const std::vector<JobType>& types);
  // Nothing while slurmctld does not answer.
  std::optional<std::vector<QueueRow>> queue() const;
  // What the job has said since it was last asked, in times since `began_unix_ms`.
  std::vector<RunLine> news_of(const std::string& id, std::int64_t began_unix_ms);
  void cancel_all() const;

 private:
  std::vector<std::string> command_for(const PlannedJob& job, const std::string& program,
                                       const std::string& directory) const;

  const minicluster::Cluster& cluster_;
  const Options& options_;
  int submitted_ = 0;
  struct Folder {
    std::string path;
    std::size_t read = 0;
  };
  std::map<std::string, Folder> folders_;  // by job id
};

// "state|reason|..." lines of squeue.
std::vector<QueueRow> parse_queue(std::string_view text);
inline constexpr char kQueueFormat[] = "%i|%T|%r|%D";

}  // namespace acrf::sim
