// SPDX-License-Identifier: GPL-2.0-or-later
// Fleets for tests of the brakes: nodes n1, n2, ... of partition train, ten to a switch.
#pragma once

#include <string>

#include "core/brakes.h"

namespace acrf {

inline constexpr std::int64_t kNow = 1'800'000'000;

inline Fleet fleet_of(int nodes) {
  Fleet fleet;
  fleet.now_unix_s = kNow;
  for (int i = 0; i < nodes; ++i) {
    FleetNode node;
    node.name = "n" + std::to_string(i + 1);
    node.partitions = {"train"};
    node.leaf = "leaf" + std::to_string(i / 10);
    node.has_gpus = true;
    fleet.nodes.push_back(std::move(node));
  }
  return fleet;
}

inline FleetNode& at(Fleet& fleet, const std::string& name) {
  return const_cast<FleetNode&>(*fleet.find(name));
}

// Drained by ACRF.
inline void acted(Fleet& fleet, const std::string& name, const std::string& fault_class,
                  std::int64_t when) {
  auto& node = at(fleet, name);
  node.draining = true;
  node.reason = "ACRF: " + fault_class + " 0000:1a:00 drain [x]";
  node.reason_unix_s = when;
  set_acted(node.token, fault_class, when);
}

inline Permission ask(const Fleet& fleet, const std::string& node,
                      const std::string& fault_class = "dimm_ue") {
  return ask_brakes(Config(), fleet, {node, fault_class}).permission;
}

}  // namespace acrf
