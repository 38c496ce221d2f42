// SPDX-License-Identifier: GPL-2.0-or-later
// What a submitted job gets: its own options over the defaults of its workload and of the site's
// first Policy line that fits, or a refusal that says why and what to do.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/policy.h"
#include "core/policy_rule.h"

namespace acrf {

struct SitePolicy {
  std::vector<PolicyRule> rules;
  int max_requeues = 8;
};

// What Slurm says of the job.
struct JobFacts {
  std::string_view partition;     // or several, separated by commas
  std::string_view account, qos;  // empty: not said
  std::uint32_t uid = 0;
  int nodes = 1;
  int gpus = 0;  // of one task of an array
  std::int64_t array_tasks = 1;
  std::int64_t time_limit_s = 0;  // 0: none was said
  bool is_batch = false;
  bool is_heterogeneous = false;
  bool refuses_requeue = false;  // --no-requeue
};

using GivenOptions = std::vector<std::pair<std::string_view, std::string_view>>;  // name, value

struct ResolvedPolicy {
  bool applies = false;  // false: ACRF has nothing to do with the job
  JobPolicy policy;
  bool append_output = false;      // a restart must not overwrite what the first run wrote
  bool signal_before_end = false;  // for a last checkpoint before the time limit
  bool has_quota = false;          // ask check_quota() too
  const PolicyRule* rule = nullptr;
};

// The job's partition is one only here. `workload`: what the job says of itself, if anything.
const PolicyRule* find_rule(const SitePolicy& site, const JobFacts& job,
                            std::optional<Workload> workload);

Result<ResolvedPolicy> resolve_policy(const SitePolicy& site, const JobFacts& job,
                                      const GivenOptions& given);

// Whether the user's and the account's other jobs leave room for this one. `workload`: what the job
// says of itself.
Status check_quota(const SitePolicy& site, const JobFacts& job, std::optional<Workload> workload,
                   std::int64_t gpus_of_user, std::int64_t gpus_of_account);

// What a user may not make of a job later. What he leaves as it is or lowers is not looked at: the
// site's lines may have changed since the job was submitted.
Status check_change(const SitePolicy& site, const JobFacts& before, const JobFacts& after,
                    std::optional<Workload> workload, bool keeps_requeue);

// GPUs in a request such as "gres:gpu:h100:4,gres:other:1" or "gres/gpu:2"; 0: none.
int gpus_in_request(std::string_view tres);

}  // namespace acrf
