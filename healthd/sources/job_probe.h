// SPDX-License-Identifier: GPL-2.0-or-later
// The process that knows which jobs have GPUs of this node. Each running step has a socket in
// slurmd's spool directory: their coming and going tells which jobs are here, at once and without
// asking anybody; slurmctld is asked once for each job, for its user and its GPUs. A process of its
// own, because libslurm's calls block while a controller fails over and it has one client per
// process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/recovery.h"
#include "sources/node_readings.h"

namespace acrf {

// A job's steps on this node, by the sockets of their daemons.
struct LocalJob {
  std::int64_t since_s = 0;  // when its first socket was made
  std::vector<std::string> steps;
  bool operator==(const LocalJob&) const = default;
};

// "n1_7.0", "n1_7.4294967291": the job and the step, "batch" for the latter.
std::optional<std::pair<JobId, std::string>> parse_step_socket(std::string_view name,
                                                               std::string_view node);

std::map<JobId, LocalJob> jobs_in_spool(const std::string& directory, const std::string& node);

// Answers each request when there is something new, and every minute: the daemon need not ask
// often. Returns when standard input ends; the value is the process's exit code.
int run_job_probe(const NodePaths& paths);

}  // namespace acrf
