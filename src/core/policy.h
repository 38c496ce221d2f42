// SPDX-License-Identifier: GPL-2.0-or-later
// A job's resiliency policy: what the --acrf-* options ask for, checked and written as one token
// that travels with the job: "acrf:policy=requeue,max-requeues=8,checkpoint-dir=/ckpt/run%201".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/checkpoint_format.h"
#include "core/duration.h"
#include "core/interval.h"
#include "core/result.h"
#include "core/shape.h"

namespace acrf {

enum class RecoveryPolicy { kNone, kRequeue, kFailover };
enum class Workload { kOther, kTraining, kInference };

struct JobPolicy {
  RecoveryPolicy recovery = RecoveryPolicy::kNone;
  Workload workload = Workload::kOther;
  std::string checkpoint_dir;  // empty: the job keeps no checkpoints
  CheckpointFormat checkpoint_format = CheckpointFormat::kAuto;
  std::optional<CheckpointInterval> checkpoint_interval;  // absent: the job's own business
  int checkpoint_cost_s = 0;                              // 0: not declared
  std::string checkpoint_signal;                          // empty: the site's
  std::optional<int> last_checkpoint_s;  // to save before a requeue; absent: the site decides
  int max_requeues = 0;
  int spares = 0;     // nodes of the allocation that wait for one of the others to fail
  int min_nodes = 0;  // an elastic job goes on with that many; 0: it is not elastic
  Shape shape = Shape::kPack;
  int excluded_risk = 0;  // nodes of this risk or more are avoided; 0: the site decides

  bool comes_back() const { return recovery != RecoveryPolicy::kNone; }
};

// One --acrf-* option. sbatch's help, the checks and the token all come from this table.
struct PolicyOption {
  std::string_view name;      // without "--acrf-"
  std::string_view argument;  // as the help shows it
  std::string_view help;
  Status (*set)(JobPolicy& policy, std::string_view value);
};

inline constexpr int kPolicyOptionCount = 13;
std::span<const PolicyOption, kPolicyOptionCount> policy_options();

// One option as typed, by its name without "--acrf-". An Error says what is allowed; sbatch and
// job_submit print the same sentence.
Status set_option(JobPolicy& policy, std::string_view name, std::string_view value);

// "--acrf-NAME=VALUE: why"
Error option_refusal(std::string_view name, std::string_view value, std::string_view why);

std::string to_token(const JobPolicy& policy);

// Finds the token as a word anywhere in `text` (an admin comment may hold other owners' words).
std::optional<JobPolicy> find_policy(std::string_view text);

std::string_view name_of(RecoveryPolicy policy);
std::string_view name_of(Workload workload);
std::optional<RecoveryPolicy> parse_recovery(std::string_view name);
std::optional<Workload> parse_workload(std::string_view name);

// The risk, from 1 to 100, at which a level begins: low, medium or high.
std::optional<int> risk_of_level(std::string_view level);
std::string_view level_of_risk(int risk);  // empty: not one of the levels

}  // namespace acrf
