// SPDX-License-Identifier: GPL-2.0-or-later
// The runs that a job has behind it. Slurm forgets when and where a requeued job ran as soon as it
// has ended there, so that the requeue notes it as a word of the job's admin comment,
// "acrf-runs:submitted=1763364000,1763364003-1763364120-hardware-n3": when it was first submitted,
// and of each run its start, its end, why it ended and the node to blame.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/requeue_budget.h"

namespace acrf {

struct PastRun {
  std::int64_t start_unix_s = 0;  // 0: not known
  std::int64_t end_unix_s = 0;
  RequeueCause cause = RequeueCause::kOther;
  std::string node;  // to blame; empty: none

  bool operator==(const PastRun&) const = default;
};

struct RunHistory {
  std::int64_t submitted_unix_s = 0;  // 0: not known
  std::vector<PastRun> runs;          // oldest first; only the last ones are kept

  bool operator==(const RunHistory&) const = default;
};

// What the comment says; nothing without the word or with a damaged one.
RunHistory find_run_history(std::string_view admin_comment);

// The comment with one more run in it; other words stay.
std::string with_run(std::string_view admin_comment, std::int64_t submitted_unix_s,
                     const PastRun& run);

}  // namespace acrf
