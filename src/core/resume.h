// SPDX-License-Identifier: GPL-2.0-or-later
// The no-progress rule: a checkpoint from which a job has begun in two restarts without getting to
// a newer one may itself be what ends the job, so the complete one before it is taken.
//
// A choice depends on earlier restarts only. Asked again within one restart, by the batch script
// and then by each srun, the answer is the same until a newer checkpoint appears.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint.h"

namespace acrf {

inline constexpr std::string_view kResumeHistoryName = ".acrf-resumed";

struct ResumeRecord {
  std::uint64_t job_id = 0;
  unsigned restart = 0;
  std::string name;  // of the checkpoint

  bool operator==(const ResumeRecord&) const = default;
};

// Lines "JOBID RESTART NAME", oldest first. Lines that make no sense are left out.
std::vector<ResumeRecord> parse_resume_history(std::string_view text);

// The last 32 of them.
std::string format_resume_history(const std::vector<ResumeRecord>& history);

// Name of the checkpoint from which the job begins in its restart of this number. When all complete
// ones have been tried in vain, the newest.
std::optional<std::string> choose_resume(const CheckpointJudge& judge,
                                         const std::vector<ResumeRecord>& history,
                                         std::uint64_t job_id, unsigned restart);

}  // namespace acrf
