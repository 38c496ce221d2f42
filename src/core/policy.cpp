// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/policy.h"

#include <utility>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kTokenPrefix = "acrf:";
constexpr int kMostRequeues = 1000;
constexpr std::pair<std::string_view, int> kRiskLevels[] = {
    {"low", 25}, {"medium", 50}, {"high", 75}};

Error refusal(std::string_view name, std::string_view value, const std::string& why) {
  return {ErrorCode::kInvalid,
          "--acrf-" + std::string(name) + "=" + std::string(value) + ": " + why};
}

Status set_recovery(JobPolicy& policy, std::string_view value) {
  for (const auto choice : {RecoveryPolicy::kNone, RecoveryPolicy::kRequeue}) {
    if (value != name_of(choice)) continue;
    policy.recovery = choice;
    return Done{};
  }
  return refusal("policy", value, "must be none or requeue");
}

Status set_checkpoint_dir(JobPolicy& policy, std::string_view value) {
  if (!starts_with(value, "/"))
    return refusal("checkpoint-dir", value, "must be an absolute path that all nodes share");
  if (value.find('\n') != std::string_view::npos)
    return refusal("checkpoint-dir", value, "must not contain a line break");
  policy.checkpoint_dir = std::string(value);
  return Done{};
}

Status set_max_requeues(JobPolicy& policy, std::string_view value) {
  const auto number = parse_unsigned(value);
  if (!number || *number > kMostRequeues) {
    return refusal("max-requeues", value,
                   "must be a whole number from 0 to " + std::to_string(kMostRequeues));
  }
  policy.max_requeues = static_cast<int>(*number);
  return Done{};
}

Status set_shape(JobPolicy& policy, std::string_view value) {
  const auto shape = parse_shape(value);
  if (!shape) return refusal("topology", value, "must be pack, spread, block or any");
  policy.shape = *shape;
  return Done{};
}

Status set_excluded_risk(JobPolicy& policy, std::string_view value) {
  const auto risk = risk_of_level(value);
  if (!risk) return refusal("exclude-risk", value, "must be low, medium or high");
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

std::string_view name_of(RecoveryPolicy policy) {
  return policy == RecoveryPolicy::kRequeue ? "requeue" : "none";
}

std::optional<int> risk_of_level(std::string_view level) {
  for (const auto& [name, risk] : kRiskLevels)
    if (name == level) return risk;
  return std::nullopt;
}

Status set_option(JobPolicy& policy, std::string_view name, std::string_view value) {
  if (name == "policy") return set_recovery(policy, value);
  if (name == "checkpoint-dir") return set_checkpoint_dir(policy, value);
  if (name == "max-requeues") return set_max_requeues(policy, value);
  if (name == "topology") return set_shape(policy, value);
  if (name == "exclude-risk") return set_excluded_risk(policy, value);
  return Error{ErrorCode::kInvalid, "--acrf-" + std::string(name) + ": no such option"};
}

Status check_policy(const JobPolicy& policy, const SubmittedJob& job) {
  if (policy.recovery == RecoveryPolicy::kNone) return Done{};
  if (job.is_heterogeneous) return refusal("policy", "requeue", "not for heterogeneous jobs");
  if (!job.is_batch)
    return refusal("policy", "requeue", "only batch jobs can be requeued: submit it with sbatch");
  if (job.refuses_requeue)
    return refusal("policy", "requeue", "contradicts --no-requeue: leave one of them out");
  if (policy.max_requeues > job.site_max_requeues) {
    return refusal("max-requeues", std::to_string(policy.max_requeues),
                   "this site allows at most " + std::to_string(job.site_max_requeues));
  }
  return Done{};
}

std::string to_token(const JobPolicy& policy) {
  std::string token = std::string(kTokenPrefix) + "policy=" + std::string(name_of(policy.recovery));
  token += ",max-requeues=" + std::to_string(policy.max_requeues);
  if (!policy.checkpoint_dir.empty())
    token += ",checkpoint-dir=" + encode_word(policy.checkpoint_dir);
  if (policy.shape != Shape::kPack) token += ",topology=" + std::string(name_of(policy.shape));
  for (const auto& [name, risk] : kRiskLevels)
    if (risk == policy.excluded_risk) token += ",exclude-risk=" + std::string(name);
  return token;
}

std::optional<JobPolicy> find_policy(std::string_view text) {
  for (auto word : split(text, ' '))
    if (take_prefix(word, kTokenPrefix))
      if (const auto policy = parse_token(word)) return policy;
  return std::nullopt;
}

}  // namespace acrf
