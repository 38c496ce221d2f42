// SPDX-License-Identifier: GPL-2.0-or-later
// What only the sight of all nodes tells: faults with a common cause, nodes that fail again and
// again (lemons), a driver under which nodes fail more than under others. Advice and nothing more:
// brakes and verdicts of the nodes themselves decide what is done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace acrf {

// An incident as the whole cluster's history has it.
struct FleetFault {
  std::string node;
  std::string fault_class;
  std::string driver;  // of the node then; empty: not known
  std::int64_t unix_s = 0;
  bool acting = false;  // it takes, or would take, its node out of service
  std::optional<std::uint64_t> job;
};

struct FleetMember {
  std::string name;
  std::string leaf;    // empty: not known
  std::string driver;  // empty: not known
};

struct ClusterRuleSettings {
  int common_cause_nodes = 3;  // 0: never
  std::int64_t common_cause_time_s = 600;
};

enum class AdviceKind { kCommonCause, kLemon, kDriver };
std::string_view name_of(AdviceKind kind);  // common-cause, lemon, driver-regression

struct ClusterAdvice {
  AdviceKind kind = AdviceKind::kCommonCause;
  std::string node;
  std::string text;  // one sentence
  int risk = 0;      // 0 to 100, of lemons
  bool operator==(const ClusterAdvice&) const = default;
};

inline constexpr std::int64_t kLemonWindow_s = 28 * 86400;

// `faults` of the last 28 days, in any order. At most one of a kind for a node; by kind, then node.
std::vector<ClusterAdvice> advise_cluster(const std::vector<FleetFault>& faults,
                                          const std::vector<FleetMember>& members,
                                          const ClusterRuleSettings& settings,
                                          std::int64_t now_unix_s);

}  // namespace acrf
