// SPDX-License-Identifier: GPL-2.0-or-later
// What the command line of acrf-sim says.
#pragma once

#include <string>

#include "core/result.h"
#include "plan.h"

namespace acrf::sim {

struct Options {
  std::string root;  // the cluster's own directory
  int nodes = 8;
  int gpus = 8;
  int port = 8080;  // of the dashboard
  std::uint64_t seed = 1;
  PlanSettings plan;
  std::string job_types;  // directory with programs of custom types
  int retries = 1;        // of a job that failed or took too long
  int timeout_s = 180;    // of a job
  int seconds = 0;        // 0: until it is told to end
  int settle_s = 60;      // for the jobs that are left after --seconds
  std::string report;     // HTML; JSON beside it
  std::string record;
  std::string replay;  // a recording
  std::string log;     // empty: in the cluster's directory
  bool keep = false;   // leave the cluster up
};

// The programs in a directory, as types of jobs; `job_types` must be a directory.
Result<std::vector<JobType>> custom_types(const std::string& directory);

}  // namespace acrf::sim
