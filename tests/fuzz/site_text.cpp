// SPDX-License-Identifier: GPL-2.0-or-later
// What a site's people write, and what ACRF writes into Slurm's records.
#include <algorithm>

#include "core/config.h"
#include "core/duration.h"
#include "core/gres_devices.h"
#include "core/gres_text.h"
#include "core/hostlist.h"
#include "core/job_array.h"
#include "core/node_health.h"
#include "core/policy.h"
#include "core/redact.h"
#include "core/requeue_budget.h"
#include "core/site_policy.h"
#include "core/topology.h"
#include "fuzz/targets.h"

namespace acrf::fuzz {
namespace {

void check_rules(const Config& config) {
  for (const auto& rule : config.policies) {
    const auto again = parse_config(to_line(rule) + "\n", "again");
    if (again && !again->policies.empty()) require(to_line(again->policies[0]) == to_line(rule));
  }
  for (const auto& rule : config.faults) {
    const auto again = parse_config(to_line(rule) + "\n", "again");
    require(again && to_line(again->faults.at(0)) == to_line(rule));
  }
  for (const auto& rule : config.checks) {
    const auto again = parse_config(to_line(rule) + "\n", "again");
    require(again && to_line(again->checks.at(0)) == to_line(rule));
  }
}

void feed_options(std::string_view text) {
  for (const auto& option : policy_options()) {
    JobPolicy policy;
    if (!set_option(policy, option.name, text)) continue;
    const auto token = to_token(policy);
    const auto found = find_policy("x " + token + " y");
    require(found && to_token(*found) == token);
  }
}

void feed_comment(std::string_view text) {
  if (const auto policy = find_policy(text)) require(find_policy(to_token(*policy)).has_value());
  auto count = find_requeue_count(text);
  count_requeue(count, count.seen + 1, RequeueCause::kApplication, {{1, 1, 1, 9}, 30},
                ProgramFailure{7, "n1"});
  require(find_requeue_count(with_requeue_count(text, count)) == count);
}

void feed_redact(std::string_view text) {
  const std::vector<std::string> names = {"gpu-n17"};
  const auto line = redact(text, names);
  require(line.size() <= 500 && line.find("gpu-n17") == std::string::npos);
}

// Ranges of thousands, or many of them, only make the same lists longer and slower.
bool has_long_ranges(std::string_view text) {
  int digits = 0;
  for (const char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 2) return true;
  }
  return std::count(text.begin(), text.end(), '-') > 4;
}

void feed_health(std::string_view text) {
  const auto health = find_node_health(text);
  if (health)
    require(find_node_health(with_node_health("", *health)).value_or(NodeHealth{}) == *health);
  const NodeHealth sick{5, true, 20};
  require(find_node_health(with_node_health(text, sick)) == sick);
}

}  // namespace

void feed_config(std::string_view text) {
  const auto config = parse_config(text, "fuzz");
  if (!config) return require(config.error().sentence.rfind("fuzz:", 0) == 0);
  check_rules(*config);
}

void feed_tokens(std::string_view text) {
  feed_options(text);
  feed_comment(text);
  feed_health(text);
  feed_redact(text);
  (void)gpus_in_request(text);
  (void)gpus_in_gres(text);
  (void)gpus_used_in_gres(text);
  require(tasks_in_array(text) >= 1);
  if (const auto seconds = parse_duration_s(text))
    require(*seconds >= 0 && *seconds <= kLongestDuration_s);
}

void feed_cluster_files(std::string_view text) {
  if (has_long_ranges(text)) return;
  (void)gpus_of_node(text, "fuzz", "n1");
  (void)Topology::parse(text, "fuzz", {"n1", "n2", "n3"});
  const auto names = expand_hostlist(text);
  if (!names) return;
  const auto again = expand_hostlist(compress_hostlist(*names));
  require(again && again->size() <= names->size());
}

}  // namespace acrf::fuzz
