// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/policy.h"

#include <utility>

#include "core/last_checkpoint.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kTokenPrefix = "acrf:";
constexpr std::uint64_t kMostRequeues = 1000;
constexpr std::uint64_t kMostSpares = 10'000;
constexpr std::uint64_t kMostNodes = 1'000'000;
constexpr std::pair<std::string_view, int> kRiskLevels[] = {
    {"low", 25}, {"medium", 50}, {"high", 75}};
constexpr std::pair<std::string_view, RecoveryPolicy> kRecoveries[] = {
    {"none", RecoveryPolicy::kNone},
    {"requeue", RecoveryPolicy::kRequeue},
    {"failover", RecoveryPolicy::kFailover}};
constexpr std::pair<std::string_view, Workload> kWorkloads[] = {{"training", Workload::kTraining},
                                                                {"inference", Workload::kInference},
                                                                {"other", Workload::kOther}};

template <typename Pairs, typename Value>
std::string_view find_name(const Pairs& pairs, Value value) {
  for (const auto& [name, known] : pairs)
    if (known == value) return name;
  return "";
}

template <typename Value, std::size_t kCount>
std::optional<Value> find_value(const std::pair<std::string_view, Value> (&pairs)[kCount],
                                std::string_view wanted) {
  for (const auto& [name, value] : pairs)
    if (name == wanted) return value;
  return std::nullopt;
}

Status set_recovery(JobPolicy& policy, std::string_view value) {
  const auto recovery = parse_recovery(value);
  if (!recovery) return option_refusal("policy", value, "must be none, requeue or failover");
  policy.recovery = *recovery;
  return Done{};
}

Status set_workload(JobPolicy& policy, std::string_view value) {
  const auto workload = parse_workload(value);
  if (!workload) return option_refusal("workload", value, "must be training, inference or other");
  policy.workload = *workload;
  return Done{};
}

Status set_checkpoint_dir(JobPolicy& policy, std::string_view value) {
  if (!starts_with(value, "/"))
    return option_refusal("checkpoint-dir", value, "must be an absolute path that all nodes share");
  if (value.find('\n') != std::string_view::npos)
    return option_refusal("checkpoint-dir", value, "must not contain a line break");
  for (const auto part : split(value, '/'))
    if (part == "..") return option_refusal("checkpoint-dir", value, "must not contain ..");
  policy.checkpoint_dir = std::string(value);
  return Done{};
}

Status set_checkpoint_format(JobPolicy& policy, std::string_view value) {
  const auto format = parse_checkpoint_format(value);
  if (!format)
    return option_refusal(
        "checkpoint-format", value,
        "must be auto, manifest, torch-dcp, deepspeed, megatron, hf or lightning");
  policy.checkpoint_format = *format;
  return Done{};
}

Status set_checkpoint_interval(JobPolicy& policy, std::string_view value) {
  const auto interval = parse_interval(value);
  if (!interval)
    return option_refusal("checkpoint-interval", value,
                          "must be auto or a time: " + std::string(kDurationForms));
  policy.checkpoint_interval = *interval;
  return Done{};
}

Status set_checkpoint_cost(JobPolicy& policy, std::string_view value) {
  const auto cost = parse_duration_s(value);
  if (!cost || *cost < 1 || *cost > 86'400)
    return option_refusal("checkpoint-cost", value,
                          "must be a time from 1s to 24h: " + std::string(kDurationForms));
  policy.checkpoint_cost_s = static_cast<int>(*cost);
  return Done{};
}

Status set_checkpoint_signal(JobPolicy& policy, std::string_view value) {
  if (!is_checkpoint_signal(value))
    return option_refusal("checkpoint-signal", value, "must be " + std::string(kCheckpointSignals));
  policy.checkpoint_signal = std::string(value);
  return Done{};
}

Status set_last_checkpoint(JobPolicy& policy, std::string_view value) {
  const auto time = parse_duration_s(value);
  if (!time || *time > kLongestLastCheckpoint_s)
    return option_refusal("last-checkpoint", value,
                          "must be a time of at most 1h: " + std::string(kDurationForms));
  policy.last_checkpoint_s = static_cast<int>(*time);
  return Done{};
}

Status set_count(int& count, std::string_view name, std::string_view value, std::uint64_t most) {
  const auto number = parse_unsigned(value);
  if (!number || *number > most)
    return option_refusal(name, value, "must be a whole number from 0 to " + std::to_string(most));
  count = static_cast<int>(*number);
  return Done{};
}

Status set_max_requeues(JobPolicy& policy, std::string_view value) {
  return set_count(policy.max_requeues, "max-requeues", value, kMostRequeues);
}

Status set_spares(JobPolicy& policy, std::string_view value) {
  return set_count(policy.spares, "spares", value, kMostSpares);
}

Status set_min_nodes(JobPolicy& policy, std::string_view value) {
  return set_count(policy.min_nodes, "min-nodes", value, kMostNodes);
}

Status set_shape(JobPolicy& policy, std::string_view value) {
  const auto shape = parse_shape(value);
  if (!shape) return option_refusal("topology", value, "must be pack, spread, block or any");
  policy.shape = *shape;
  return Done{};
}

Status set_excluded_risk(JobPolicy& policy, std::string_view value) {
  const auto risk = risk_of_level(value);
  if (!risk) return option_refusal("exclude-risk", value, "must be low, medium or high");
  policy.excluded_risk = *risk;
  return Done{};
}

std::optional<JobPolicy> parse_token(std::string_view token) {
  JobPolicy policy;
  for (const auto pair : split(token, ',')) {
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto value = decode_word(pair.substr(equals + 1));
    if (!value || !set_option(policy, pair.substr(0, equals), *value)) return std::nullopt;
  }
  return policy;
}

}  // namespace

Error option_refusal(std::string_view name, std::string_view value, std::string_view why) {
  return {ErrorCode::kInvalid,
          "--acrf-" + std::string(name) + "=" + std::string(value) + ": " + std::string(why)};
}

std::string_view name_of(RecoveryPolicy policy) { return find_name(kRecoveries, policy); }
std::string_view name_of(Workload workload) { return find_name(kWorkloads, workload); }
std::string_view level_of_risk(int risk) { return find_name(kRiskLevels, risk); }
std::optional<RecoveryPolicy> parse_recovery(std::string_view name) {
  return find_value(kRecoveries, name);
}
std::optional<Workload> parse_workload(std::string_view name) {
  return find_value(kWorkloads, name);
}
std::optional<int> risk_of_level(std::string_view level) { return find_value(kRiskLevels, level); }

std::span<const PolicyOption, kPolicyOptionCount> policy_options() {
  static constexpr PolicyOption kOptions[kPolicyOptionCount] = {
      {"policy", "none|requeue|failover",
       "what happens to the job when hardware below it fails: requeue brings it back, on other "
       "nodes, from its newest complete checkpoint; failover does so too, and keeps spares",
       set_recovery},
      {"workload", "training|inference|other",
       "what the job is, for what it does not say itself: training comes back from checkpoints, "
       "inference at once and spread over failure domains",
       set_workload},
      {"checkpoint-dir", "DIR",
       "absolute path, shared by all nodes, under which the job keeps its checkpoints",
       set_checkpoint_dir},
      {"checkpoint-format", "auto|manifest|torch-dcp|deepspeed|megatron|hf|lightning",
       "how to tell a complete checkpoint from a broken one (default: auto, by what is there)",
       set_checkpoint_format},
      {"checkpoint-interval", "TIME|auto",
       "given to the job as ACRF_CHECKPOINT_INTERVAL in seconds; auto: what costs least, by the "
       "job's size, the nodes' failures and the cost of a checkpoint",
       set_checkpoint_interval},
      {"checkpoint-cost", "TIME",
       "how long the job stops for a checkpoint, for auto (default: 60s)", set_checkpoint_cost},
      {"checkpoint-signal", "USR1|USR2|TERM|INT|HUP|CONT",
       "the signal that asks the job's steps for a checkpoint (default: the site's)",
       set_checkpoint_signal},
      {"last-checkpoint", "TIME",
       "how long the job may take to save itself before it is requeued, where the fault lets its "
       "GPUs work on (default: the site's, for training with a checkpoint directory); 0: not at "
       "all",
       set_last_checkpoint},
      {"max-requeues", "N",
       "hold the job instead of requeueing it once hardware has stopped it N times",
       set_max_requeues},
      {"spares", "N", "with failover: how many of the job's nodes are spares", set_spares},
      {"min-nodes", "N",
       "with failover: go on with N nodes or more when the spares are used up (default: 0, never "
       "with fewer)",
       set_min_nodes},
      {"topology", "pack|spread|block|any",
       "where the job's nodes shall be: pack (the default) close together, block on as few leaf "
       "switches as possible, spread over failure domains, any wherever it disturbs others least",
       set_shape},
      {"exclude-risk", "low|medium|high",
       "use nodes with this risk of failure or more only when nothing else fits",
       set_excluded_risk},
  };
  return kOptions;
}

Status set_option(JobPolicy& policy, std::string_view name, std::string_view value) {
  for (const auto& option : policy_options())
    if (option.name == name) return option.set(policy, value);
  return Error{ErrorCode::kInvalid, "--acrf-" + std::string(name) + ": no such option"};
}

std::string to_token(const JobPolicy& policy) {
  std::string token(kTokenPrefix);
  const auto add = [&](std::string_view name, std::string_view value) {
    if (token.size() > kTokenPrefix.size()) token += ",";
    token += std::string(name) + "=" + encode_word(value);
  };
  const JobPolicy plain;
  add("policy", name_of(policy.recovery));
  add("max-requeues", std::to_string(policy.max_requeues));
  if (!policy.checkpoint_dir.empty()) add("checkpoint-dir", policy.checkpoint_dir);
  if (policy.workload != plain.workload) add("workload", name_of(policy.workload));
  if (policy.checkpoint_format != plain.checkpoint_format)
    add("checkpoint-format", name_of(policy.checkpoint_format));
  if (const auto& interval = policy.checkpoint_interval)
    add("checkpoint-interval",
        interval->automatic ? "auto" : std::to_string(interval->seconds) + "s");
  if (policy.checkpoint_cost_s > 0)
    add("checkpoint-cost", std::to_string(policy.checkpoint_cost_s) + "s");
  if (!policy.checkpoint_signal.empty()) add("checkpoint-signal", policy.checkpoint_signal);
  if (policy.last_checkpoint_s)
    add("last-checkpoint", std::to_string(*policy.last_checkpoint_s) + "s");
  if (policy.spares > 0) add("spares", std::to_string(policy.spares));
  if (policy.min_nodes > 0) add("min-nodes", std::to_string(policy.min_nodes));
  if (policy.shape != plain.shape) add("topology", name_of(policy.shape));
  if (policy.excluded_risk) add("exclude-risk", level_of_risk(policy.excluded_risk));
  return token;
}

std::optional<JobPolicy> find_policy(std::string_view text) {
  for (auto word : split(text, ' '))
    if (take_prefix(word, kTokenPrefix))
      if (const auto policy = parse_token(word)) return policy;
  return std::nullopt;
}

}  // namespace acrf
