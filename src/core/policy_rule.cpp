// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/policy_rule.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

using Problem = std::optional<std::string>;

constexpr int kMostGpus = 10'000'000;

Problem set_list(std::vector<std::string>& list, std::string_view value) {
  for (const auto piece : split(value, ',')) {
    if (trim(piece).empty()) return "must be names, separated by commas";
    list.emplace_back(trim(piece));
  }
  return std::nullopt;
}

std::string show_list(const std::vector<std::string>& list) {
  std::string text;
  for (const auto& piece : list) text += (text.empty() ? "" : ",") + piece;
  return text;
}

Problem set_roots(std::vector<std::string>& roots, std::string_view value) {
  if (const auto problem = set_list(roots, value)) return problem;
  for (auto& root : roots) {
    if (root.front() != '/') return "must be absolute paths, separated by commas";
    while (root.size() > 1 && root.back() == '/') root.pop_back();
  }
  return std::nullopt;
}

Problem set_number(int& number, std::string_view value, int least, int most) {
  const auto parsed = parse_unsigned(value);
  if (!parsed || *parsed < static_cast<std::uint64_t>(least) ||
      *parsed > static_cast<std::uint64_t>(most))
    return "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  number = static_cast<int>(*parsed);
  return std::nullopt;
}

std::string show_number(int number) { return number ? std::to_string(number) : ""; }

Problem set_time(std::int64_t& seconds, std::string_view value) {
  const auto parsed = parse_duration_s(value);
  if (!parsed || *parsed < 1) return "must be a time: " + std::string(kDurationForms);
  seconds = *parsed;
  return std::nullopt;
}

std::string show_time(std::int64_t seconds) { return seconds ? std::to_string(seconds) + "s" : ""; }

Problem set_policy(std::optional<RecoveryPolicy>& policy, std::string_view value) {
  policy = parse_recovery(value);
  return policy ? Problem() : "must be none, requeue or failover";
}

Problem set_workload(std::optional<Workload>& workload, std::string_view value) {
  workload = parse_workload(value);
  return workload ? Problem() : "must be training, inference or other";
}

template <typename Value>
std::string show_name(const std::optional<Value>& value) {
  return value ? std::string(name_of(*value)) : "";
}

Problem set_risk(PolicyRule& rule, std::string_view value) {
  const auto risk = risk_of_level(value);
  if (!risk) return "must be low, medium or high";
  rule.excluded_risk = *risk;
  return std::nullopt;
}

Problem set_opt_out(PolicyRule& rule, std::string_view value) {
  if (!equals_ignoring_case(value, "yes") && !equals_ignoring_case(value, "no"))
    return "must be yes or no";
  rule.opt_out = equals_ignoring_case(value, "yes");
  return std::nullopt;
}

Problem set_limit(std::optional<int>& limit, std::string_view value, int most) {
  int number = 0;
  if (const auto problem = set_number(number, value, 0, most)) return problem;
  limit = number;
  return std::nullopt;
}

std::string show_limit(const std::optional<int>& limit) {
  return limit ? std::to_string(*limit) : "";
}

// The two functions of a key, for a field of the rule and what sets and shows such fields.
#define ACRF_KEY(setter, shower, field, ...)                     \
  [](PolicyRule& rule, std::string_view value) -> Problem {      \
    return setter(rule.field, value __VA_OPT__(, ) __VA_ARGS__); \
  },                                                             \
      [](const PolicyRule& rule) { return std::string(shower(rule.field)); }

constexpr PolicyKey kKeys[] = {
    {"Partition", "Jobs of these partitions.", ACRF_KEY(set_list, show_list, partitions)},
    {"Account", "Jobs of these accounts.", ACRF_KEY(set_list, show_list, accounts)},
    {"QOS", "Jobs of these qualities of service.", ACRF_KEY(set_list, show_list, qos)},
    {"User", "Jobs of these users, by name or number.", ACRF_KEY(set_list, show_list, users)},
    {"Workload", "Jobs that say --acrf-workload=training, inference or other.",
     ACRF_KEY(set_workload, show_name, workload)},
    {"DefaultPolicy", "For jobs that say nothing: none, requeue or failover.",
     ACRF_KEY(set_policy, show_name, default_policy)},
    {"DefaultWorkload", "For jobs that say nothing: training, inference or other.",
     ACRF_KEY(set_workload, show_name, default_workload)},
    {"OptOut", "no: such batch jobs may not say --acrf-policy=none or --no-requeue.", set_opt_out,
     [](const PolicyRule& rule) { return std::string(rule.opt_out ? "" : "no"); }},
    {"ExcludeRisk", "Such jobs keep off nodes of this risk, low, medium or high, while others fit.",
     set_risk,
     [](const PolicyRule& rule) { return std::string(level_of_risk(rule.excluded_risk)); }},
    {"MaxRequeues", "The most that --acrf-max-requeues may be, and its default.",
     ACRF_KEY(set_limit, show_limit, max_requeues, 1000)},
    {"MaxSpares", "The most that --acrf-spares may be.",
     ACRF_KEY(set_limit, show_limit, max_spares, 10'000)},
    {"CheckpointRoots", "Checkpoint directories must be one of these directories or below one.",
     ACRF_KEY(set_roots, show_list, checkpoint_roots)},
    {"CheckpointOverGpus", "Jobs of more GPUs must name a checkpoint directory.",
     ACRF_KEY(set_number, show_number, checkpoint_over_gpus, 1, kMostGpus)},
    {"CheckpointOverTime", "So must jobs with a longer time limit.",
     ACRF_KEY(set_time, show_time, checkpoint_over_s)},
    {"MaxGpus", "The most GPUs of one job.",
     ACRF_KEY(set_number, show_number, max_gpus, 1, kMostGpus)},
    {"MaxGpusPerUser", "The most GPUs of all pending and running jobs of one user.",
     ACRF_KEY(set_number, show_number, max_gpus_per_user, 1, kMostGpus)},
    {"MaxGpusPerAccount", "The most GPUs of all pending and running jobs of one account.",
     ACRF_KEY(set_number, show_number, max_gpus_per_account, 1, kMostGpus)},
    {"MaxTime", "The longest time limit; jobs without one are refused.",
     ACRF_KEY(set_time, show_time, max_time_s)},
};
#undef ACRF_KEY

// What can be written into a line again as it is.
bool is_plain(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](unsigned char c) {
    return c >= ' ' && c != 0x7f && c != '#' && c != '\\' && c != '"';
  });
}

const PolicyKey* find_key(std::string_view name) {
  for (const auto& key : kKeys)
    if (equals_ignoring_case(key.name, name)) return &key;
  return nullptr;
}

}  // namespace

std::span<const PolicyKey> policy_keys() { return kKeys; }

Result<PolicyRule> parse_policy_rule(const ConfLine& line, std::string_view origin) {
  PolicyRule rule;
  rule.line = line.number;
  for (const auto& [name, value] : line.fields) {
    if (!is_plain(value))
      return conf_error(origin, line.number,
                        name + " must not contain #, \\ or control characters");
    if (equals_ignoring_case(name, "Policy")) {
      rule.name = value;
      continue;
    }
    const auto* key = find_key(name);
    if (!key) return conf_error(origin, line.number, "a Policy has no '" + name + "'");
    if (const auto problem = key->set(rule, value))
      return conf_error(origin, line.number,
                        std::string(key->name) + "=" + value + ": " + *problem);
  }
  if (rule.name.empty()) return conf_error(origin, line.number, "a Policy needs a name");
  return rule;
}

std::string to_line(const PolicyRule& rule) {
  const auto quoted = [](const std::string& value) {
    return value.find(' ') == std::string::npos ? value : "\"" + value + "\"";
  };
  std::string line = "Policy=" + quoted(rule.name);
  for (const auto& key : kKeys)
    if (const auto value = key.get(rule); !value.empty())
      line += " " + std::string(key.name) + "=" + quoted(value);
  return line;
}

}  // namespace acrf
