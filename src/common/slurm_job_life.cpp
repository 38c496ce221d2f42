// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm_job_life.h"

#include <slurm/slurm.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <memory>

#include "common/slurm_call.h"
#include "common/slurm_records.h"

namespace acrf {
namespace {

std::string text(const char* of) { return of ? of : ""; }

LifeFacts facts_of(const slurm_job_info_t& record) {
  const auto base = record.job_state & JOB_STATE_BASE;
  LifeFacts facts;
  facts.id = record.job_id;
  facts.state = name_of_job_state(record.job_state);
  facts.reason = text(record.state_desc);
  facts.submit_unix_s = record.submit_time;
  // Of a job that waits, the scheduler's guess.
  if (base != JOB_PENDING && record.start_time <= std::time(nullptr))
    facts.start_unix_s = record.start_time;
  if (base > JOB_SUSPENDED) facts.end_unix_s = record.end_time;  // else its time limit
  facts.restarts = record.restart_cnt;
  facts.nodes = text(record.nodes);
  facts.admin_comment = text(record.admin_comment);
  return facts;
}

}  // namespace

std::string name_of_job_state(std::uint32_t state) {
  static constexpr const char* kNames[] = {"PENDING",   "RUNNING",   "SUSPENDED", "COMPLETED",
                                           "CANCELLED", "FAILED",    "TIMEOUT",   "NODE_FAIL",
                                           "PREEMPTED", "BOOT_FAIL", "DEADLINE",  "OUT_OF_MEMORY"};
  const auto base = state & JOB_STATE_BASE;
  if (state & JOB_COMPLETING) return "COMPLETING";
  return base < std::size(kNames) ? kNames[base] : "UNKNOWN";
}

Result<LifeFacts> load_life_facts(JobId job) {
  const auto about = "ask slurmctld about job " + std::to_string(job.value);
  job_info_msg_t* raw = nullptr;
  if (slurm_load_job(&raw, job.value, SHOW_ALL) != SLURM_SUCCESS) return slurm_error(about, errno);
  const std::unique_ptr<job_info_msg_t, decltype(&slurm_free_job_info_msg)> answer(
      raw, slurm_free_job_info_msg);
  if (answer->record_count == 0) return Error{ErrorCode::kNotFound, about + ": it knows none"};
  const slurm_job_info_t* first = answer->job_array;
  const auto* end = first + answer->record_count;
  const auto* found =
      std::find_if(first, end, [&](const auto& record) { return record.job_id == job.value; });
  return facts_of(found == end ? *first : *found);
}

}  // namespace acrf
