// SPDX-License-Identifier: GPL-2.0-or-later
// A Policy line of acrf.conf: which jobs it is for, what they get and what they may not do. The
// first line that fits a job holds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/conf_line.h"
#include "core/policy.h"

namespace acrf {

struct PolicyRule {
  std::string name;
  int line = 0;

  // Which jobs; an empty list or no workload: all.
  std::vector<std::string> partitions, accounts, qos, users;
  std::vector<std::uint32_t> uids;  // of the users, from who can look them up
  std::optional<Workload> workload;

  // What they get if they don't say otherwise.
  std::optional<RecoveryPolicy> default_policy;
  std::optional<Workload> default_workload;
  int excluded_risk = 0;  // at least so careful, whatever they say; 0: not asked for

  // What they may not do; 0 or an empty list: no limit of this kind.
  std::optional<int> max_requeues, max_spares;
  std::vector<std::string> checkpoint_roots;
  int max_gpus = 0, max_gpus_per_user = 0, max_gpus_per_account = 0;
  std::int64_t max_time_s = 0;
  int checkpoint_over_gpus = 0;  // more GPUs than this: --acrf-checkpoint-dir is required
  std::int64_t checkpoint_over_s = 0;
  bool opt_out = true;  // false: --acrf-policy=none is refused
};

// One key of a Policy line. The parser, `acrf conf show` and acrf.conf(5) come from this table.
struct PolicyKey {
  std::string_view name;
  std::string_view help;
  // What is wrong with the value; nothing when it was taken.
  std::optional<std::string> (*set)(PolicyRule& rule, std::string_view value);
  // As it would be written; empty when it is not set.
  std::string (*get)(const PolicyRule& rule);
};

std::span<const PolicyKey> policy_keys();

// "Policy=NAME Key=value ..."; an Error opens with "origin:line:".
Result<PolicyRule> parse_policy_rule(const ConfLine& line, std::string_view origin);

std::string to_line(const PolicyRule& rule);

}  // namespace acrf
