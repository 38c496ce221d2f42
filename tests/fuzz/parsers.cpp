// SPDX-License-Identifier: GPL-2.0-or-later
#include "fuzz/parsers.h"

#include <cstdlib>

#include "core/config.h"
#include "core/gres_devices.h"
#include "core/kernel_log.h"
#include "core/node_health.h"
#include "core/policy.h"
#include "core/redact.h"
#include "core/requeue_budget.h"
#include "core/site_policy.h"
#include "core/topology.h"

namespace acrf::fuzz {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void feed_config(std::string_view text) {
  const auto config = parse_config(text, "fuzz");
  if (!config) return require(config.error().sentence.rfind("fuzz:", 0) == 0);
  for (const auto& rule : config->policies) {
    const auto again = parse_config(to_line(rule) + "\n", "again");
    if (again && !again->policies.empty()) require(to_line(again->policies[0]) == to_line(rule));
  }
  for (const auto& rule : config->faults) {
    const auto again = parse_config(to_line(rule) + "\n", "again");
    require(again && to_line(again->faults.at(0)) == to_line(rule));
  }
  for (const auto& rule : config->checks) {
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

}  // namespace

void feed_parsers(std::string_view text) {
  feed_config(text);
  feed_options(text);
  feed_comment(text);
  feed_redact(text);
  (void)find_node_health(text);
  (void)gpus_of_node(text, "fuzz", "n1");
  (void)parse_kernel_record(text);
  (void)gpus_in_request(text);
  (void)Topology::parse(text, "fuzz", {"n1", "n2", "n3"});
}

}  // namespace acrf::fuzz
