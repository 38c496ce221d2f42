// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/site_policy.h"

#include <algorithm>
#include <limits>

#include "core/text.h"

namespace acrf {
namespace {

bool fits(const std::vector<std::string>& list, std::string_view name) {
  return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
}

// Slurm writes accounts in lower case, whatever the user types.
bool fits_account(const std::vector<std::string>& list, std::string_view name) {
  return list.empty() || std::any_of(list.begin(), list.end(), [&](const auto& known) {
           return equals_ignoring_case(known, name);
         });
}

bool fits_user(const PolicyRule& rule, std::uint32_t uid) {
  return rule.users.empty() ||
         std::find(rule.uids.begin(), rule.uids.end(), uid) != rule.uids.end();
}

Error site_refusal(const PolicyRule& rule, const std::string& sentence) {
  return {ErrorCode::kDenied, "ACRF: " + sentence + " (policy " + rule.name + " of this site)"};
}

Error over_quota(const PolicyRule& rule, const std::string& whose, int most, std::int64_t used) {
  return site_refusal(rule, "the jobs of one " + whose + " may have at most " +
                                std::to_string(most) + " GPUs together, and have " +
                                std::to_string(used));
}

const std::string_view* find_given(const GivenOptions& given, std::string_view name) {
  for (const auto& [key, value] : given)
    if (key == name) return &value;
  return nullptr;
}

// What a workload gets if nobody says otherwise. Only batch jobs can be requeued, so others are not
// by default.
JobPolicy defaults_of(Workload workload, const JobFacts& job) {
  JobPolicy policy;
  policy.workload = workload;
  const bool can_come_back = job.is_batch && !job.is_heterogeneous && !job.refuses_requeue;
  if (workload != Workload::kOther && can_come_back) policy.recovery = RecoveryPolicy::kRequeue;
  if (workload == Workload::kTraining) policy.checkpoint_interval = CheckpointInterval{true, 0};
  if (workload == Workload::kInference) policy.shape = Shape::kSpread;
  return policy;
}

bool is_below(std::string_view path, std::string_view root) {
  if (root == "/") return true;
  return take_prefix(path, root) && (path.empty() || path.front() == '/');
}

Status check_min_nodes(const JobPolicy& policy, const JobFacts& job) {
  const auto least = std::to_string(policy.min_nodes);
  if (policy.min_nodes > 0 && policy.recovery != RecoveryPolicy::kFailover)
    return option_refusal("min-nodes", least, "only with --acrf-policy=failover");
  const auto running = static_cast<int>(job.nodes) - policy.spares;
  if (policy.min_nodes > 0 && policy.min_nodes > running)
    return option_refusal("min-nodes", least,
                          "must not be more than the job's nodes without its spares, of which "
                          "there are " +
                              std::to_string(running));
  return Done{};
}

Status check_job(const JobPolicy& policy, const JobFacts& job) {
  const auto name = name_of(policy.recovery);
  if (policy.spares > 0 && policy.recovery != RecoveryPolicy::kFailover)
    return option_refusal("spares", std::to_string(policy.spares),
                          "only with --acrf-policy=failover");
  if (policy.spares > 0 && policy.spares >= job.nodes)
    return option_refusal("spares", std::to_string(policy.spares),
                          "must be less than the job's nodes, of which there are " +
                              std::to_string(job.nodes) + ": ask for more with --nodes");
  if (const auto checked = check_min_nodes(policy, job); !checked) return checked;
  if (!policy.comes_back()) return Done{};
  if (job.is_heterogeneous) return option_refusal("policy", name, "not for heterogeneous jobs");
  if (!job.is_batch)
    return option_refusal("policy", name, "only batch jobs can be requeued: submit it with sbatch");
  if (job.refuses_requeue)
    return option_refusal("policy", name, "contradicts --no-requeue: leave one of them out");
  return Done{};
}

Status check_gpus(const PolicyRule& rule, const JobFacts& job) {
  if (!rule.max_gpus || job.gpus <= rule.max_gpus) return Done{};
  return site_refusal(rule, "a job may have at most " + std::to_string(rule.max_gpus) + " GPUs");
}

Status check_time(const PolicyRule& rule, const JobFacts& job) {
  if (!rule.max_time_s || (job.time_limit_s && job.time_limit_s <= rule.max_time_s)) return Done{};
  return site_refusal(rule, "a job must have a time limit of at most " +
                                std::to_string(rule.max_time_s / 60) +
                                " minutes: say it with --time");
}

bool must_come_back(const PolicyRule& rule) {
  return !rule.opt_out && rule.default_policy != RecoveryPolicy::kNone;
}

Status check_limits(const PolicyRule& rule, const JobPolicy& policy, const JobFacts& job) {
  if (rule.max_spares && policy.spares > *rule.max_spares)
    return option_refusal("spares", std::to_string(policy.spares),
                          "this site allows at most " + std::to_string(*rule.max_spares));
  // Only batch jobs can come back; to others the rule does not speak.
  if (must_come_back(rule) && !policy.comes_back() && job.is_batch && !job.is_heterogeneous)
    return site_refusal(rule,
                        "such jobs must come back after a fault: leave --acrf-policy=none and "
                        "--no-requeue out");
  const auto& roots = rule.checkpoint_roots;
  if (!policy.checkpoint_dir.empty() && !roots.empty() &&
      std::none_of(roots.begin(), roots.end(),
                   [&](const auto& root) { return is_below(policy.checkpoint_dir, root); })) {
    std::string list;
    for (const auto& root : roots) list += (list.empty() ? "" : " or ") + root;
    return option_refusal("checkpoint-dir", policy.checkpoint_dir, "must be below " + list);
  }
  const bool large = rule.checkpoint_over_gpus && job.gpus > rule.checkpoint_over_gpus;
  const bool lasting =
      rule.checkpoint_over_s && (!job.time_limit_s || job.time_limit_s > rule.checkpoint_over_s);
  if ((large || lasting) && policy.checkpoint_dir.empty())
    return site_refusal(rule,
                        "jobs of this size or time limit must keep checkpoints: say where "
                        "with --acrf-checkpoint-dir=DIR");
  if (const auto checked = check_gpus(rule, job); !checked) return checked;
  return check_time(rule, job);
}

// Site and workload before the job's own words.
Result<JobPolicy> layered(const SitePolicy& site, const JobFacts& job, const GivenOptions& given,
                          const PolicyRule* rule, std::optional<Workload> said) {
  Workload workload = Workload::kOther;
  if (rule && rule->default_workload) workload = *rule->default_workload;
  if (said) workload = *said;
  JobPolicy policy = defaults_of(workload, job);
  if (rule && rule->default_policy &&
      (job.is_batch || *rule->default_policy == RecoveryPolicy::kNone))
    if (!job.refuses_requeue && !job.is_heterogeneous) policy.recovery = *rule->default_policy;
  const int most = rule && rule->max_requeues ? *rule->max_requeues : site.max_requeues;
  policy.max_requeues = most;
  for (const auto& [name, value] : given)
    if (const auto set = set_option(policy, name, value); !set) return set.error();
  if (policy.max_requeues > most)
    return option_refusal("max-requeues", std::to_string(policy.max_requeues),
                          "this site allows at most " + std::to_string(most));
  if (rule && rule->excluded_risk &&
      (!policy.excluded_risk || policy.excluded_risk > rule->excluded_risk))
    policy.excluded_risk = rule->excluded_risk;
  return policy;
}

// One for each partition that the job names: nobody slips out of a rule by naming another as well.
std::vector<const PolicyRule*> rules_for(const SitePolicy& site, const JobFacts& job,
                                         std::optional<Workload> workload) {
  std::vector<const PolicyRule*> rules;
  for (const auto partition : split(job.partition, ',')) {
    JobFacts there = job;
    there.partition = partition;
    rules.push_back(find_rule(site, there, workload));
  }
  return rules;
}

}  // namespace

const PolicyRule* find_rule(const SitePolicy& site, const JobFacts& job,
                            std::optional<Workload> workload) {
  for (const auto& rule : site.rules)
    if (fits(rule.partitions, job.partition) && fits_account(rule.accounts, job.account) &&
        fits(rule.qos, job.qos) && fits_user(rule, job.uid) &&
        (!rule.workload || rule.workload == workload))
      return &rule;
  return nullptr;
}

Result<ResolvedPolicy> resolve_policy(const SitePolicy& site, const JobFacts& job,
                                      const GivenOptions& given) {
  std::optional<Workload> said;
  if (const auto* name = find_given(given, "workload")) said = parse_workload(*name);
  ResolvedPolicy resolved;
  const auto rules = rules_for(site, job, said);
  resolved.rule = rules.front();
  const auto policy = layered(site, job, given, resolved.rule, said);
  if (!policy) return policy.error();
  resolved.policy = *policy;
  if (const auto checked = check_job(*policy, job); !checked) return checked.error();
  for (const auto* rule : rules) {
    if (!rule) continue;
    if (const auto checked = check_limits(*rule, *policy, job); !checked) return checked.error();
    resolved.has_quota |= rule->max_gpus_per_user || rule->max_gpus_per_account;
  }
  resolved.applies = !given.empty() || policy->comes_back() || policy->excluded_risk ||
                     policy->workload != Workload::kOther;
  const bool trains = policy->workload == Workload::kTraining && policy->comes_back();
  resolved.append_output = trains;
  resolved.signal_before_end = trains && !policy->checkpoint_dir.empty();
  return resolved;
}

Status check_quota(const SitePolicy& site, const JobFacts& job, std::optional<Workload> workload,
                   std::int64_t gpus_of_user, std::int64_t gpus_of_account) {
  const std::int64_t wanted = job.gpus * job.array_tasks;
  for (const auto* rule : rules_for(site, job, workload)) {
    if (!rule || !job.gpus) continue;
    if (rule->max_gpus_per_user && gpus_of_user + wanted > rule->max_gpus_per_user)
      return over_quota(*rule, "user", rule->max_gpus_per_user, gpus_of_user);
    if (rule->max_gpus_per_account && gpus_of_account + wanted > rule->max_gpus_per_account)
      return over_quota(*rule, "account", rule->max_gpus_per_account, gpus_of_account);
  }
  return Done{};
}

Status check_change(const SitePolicy& site, const JobFacts& before, const JobFacts& after,
                    std::optional<Workload> workload, bool keeps_requeue) {
  const bool moved = before.partition != after.partition || before.account != after.account ||
                     before.qos != after.qos;
  const auto time = [](const JobFacts& job) {
    return job.time_limit_s ? job.time_limit_s : std::numeric_limits<std::int64_t>::max();
  };
  for (const auto* rule : rules_for(site, after, workload)) {
    if (!rule) continue;
    if (!keeps_requeue && must_come_back(*rule))
      return site_refusal(*rule, "such jobs must come back after a fault: Requeue=0 is refused");
    if (moved || after.gpus > before.gpus)
      if (const auto checked = check_gpus(*rule, after); !checked) return checked;
    if (moved || time(after) > time(before))
      if (const auto checked = check_time(*rule, after); !checked) return checked;
  }
  return Done{};
}

int gpus_in_request(std::string_view tres) {
  std::uint64_t sum = 0;
  for (auto item : split(tres, ',')) {
    if (!take_prefix(item, "gres:gpu") && !take_prefix(item, "gres/gpu")) continue;
    if (!item.empty() && item.front() != ':' && item.front() != '=') continue;
    const auto last = item.find_last_of(":=");
    const auto count =
        last == std::string_view::npos ? std::nullopt : parse_unsigned(item.substr(last + 1));
    sum += count.value_or(1);
  }
  return static_cast<int>(std::min<std::uint64_t>(sum, 10'000'000));
}

}  // namespace acrf
