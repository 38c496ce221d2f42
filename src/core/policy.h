// SPDX-License-Identifier: GPL-2.0-or-later
// A job's resiliency policy: what the --acrf-* options ask for, checked and written as one token
// that travels with the job: "acrf:policy=requeue,max-requeues=8,checkpoint-dir=/ckpt/run%201".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/shape.h"

namespace acrf {

enum class RecoveryPolicy { kNone, kRequeue };

struct JobPolicy {
  RecoveryPolicy recovery = RecoveryPolicy::kNone;
  std::string checkpoint_dir;  // empty: the job keeps no checkpoints
  int max_requeues = 0;
  Shape shape = Shape::kPack;
  int excluded_risk = 0;  // nodes of this risk or more are avoided; 0: the site decides
};

// One option as typed, by its name without "--acrf-". An Error says what is allowed; sbatch and
// job_submit print the same sentence.
Status set_option(JobPolicy& policy, std::string_view name, std::string_view value);

struct SubmittedJob {
  bool is_batch = false;
  bool is_heterogeneous = false;
  bool refuses_requeue = false;  // --no-requeue
  int site_max_requeues = 0;
};

// Conflicts between the policy and the job that carries it.
Status check_policy(const JobPolicy& policy, const SubmittedJob& job);

std::string to_token(const JobPolicy& policy);

// Finds the token as a word anywhere in `text` (an admin comment may hold other owners' words).
std::optional<JobPolicy> find_policy(std::string_view text);

std::string_view name_of(RecoveryPolicy policy);

// The risk, from 1 to 100, at which a level begins: low, medium or high.
std::optional<int> risk_of_level(std::string_view level);

}  // namespace acrf
