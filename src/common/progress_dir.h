// SPDX-License-Identifier: GPL-2.0-or-later
// Where the ranks of a job report their progress: .acrf-progress in its checkpoint directory, which
// all of its nodes see. One file for each rank of each run, FENCE-RANK.
#pragma once

#include <string>
#include <vector>

#include "core/fence.h"
#include "core/progress_report.h"
#include "core/result.h"

namespace acrf {

// Adds the step to the rank's file, with the time of now.
Status report_step(const std::string& checkpoint_dir, const Fence& fence, int rank,
                   const std::string& node, std::int64_t step);

// Of the last step that a launcher has started anew within the fence's restart: a batch script
// keeps its fence when its ranks get a later one. None of its ranks needs to have reported yet, if
// the directory's fence tells of it. The fence's own step while there is no later one.
StepReports read_reports(const std::string& checkpoint_dir, const Fence& fence);

// How far each run of the job came: of all its ranks the last step that any of them did. By
// restart, the highest of its failovers.
struct RunReach {
  unsigned restart = 0;
  std::int64_t step = 0;
};
std::vector<RunReach> read_reach(const std::string& checkpoint_dir, std::uint64_t job);

}  // namespace acrf
