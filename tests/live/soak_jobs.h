// SPDX-License-Identifier: GPL-2.0-or-later
// Random jobs: every way of asking for GPUs and most options that steer where a job goes.
#pragma once

#include <string>
#include <vector>

#include "unit/random.h"

namespace acrf::minicluster {

struct RandomJob {
  std::vector<std::string> options;  // of sbatch, with the script
  int jobs = 1;                      // how many Slurm makes of it
};

// Partitions `high` (preempts) and `whole` (whole nodes only) exist besides the default one.
// Some requests make no sense; Slurm refuses those when they are submitted.
RandomJob random_job(Random& random, int nodes, const std::vector<std::string>& reservations);

}  // namespace acrf::minicluster
