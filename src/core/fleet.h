// SPDX-License-Identifier: GPL-2.0-or-later
// All nodes of the cluster as slurmctld shows them at one moment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/node_health.h"

namespace acrf {

struct FleetNode {
  std::string name;
  std::vector<std::string> partitions;
  std::string leaf;  // the switch or block of topology.conf right above it; empty: not known
  bool has_gpus = false;
  bool draining = false;     // out of service by DRAIN or FAIL, whatever the base state
  bool down = false;         // or because it is DOWN, does not answer or registered wrongly
  bool maintenance = false;  // in a reservation with the flag MAINT that is active
  std::string reason;
  std::int64_t reason_unix_s = 0;
  std::string comment;
  NodeToken token;  // from the comment
};

struct Fleet {
  std::vector<FleetNode> nodes;
  // slurmctld's clock when it answered: all nodes' marks are compared by this one clock.
  std::int64_t now_unix_s = 0;
  std::string topology_problem;  // why no switches are known; empty: they are, or there are none

  // nullptr: slurmctld knows no such node.
  const FleetNode* find(std::string_view name) const;
};

// The class in a drain reason of ACRF's, "ACRF: <class> ..."; empty for anybody else's reason.
std::string_view class_in_reason(std::string_view reason);

}  // namespace acrf
