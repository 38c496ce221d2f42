// SPDX-License-Identifier: GPL-2.0-or-later
// A cluster's nodes and what is free on them, from a JSON file, so that placement can be tried
// without Slurm. Either one object per node,
//   {"nodes":[{"name":"n1","gpus":8,"free":[0,1],"quarantined":[7],"suspect":true,"risk":20,
//              "links":[[...],...]},...]}
// (free: all unless given), or all nodes alike but for exceptions,
//   {"nodes":"n[1-12500]","gpus":8,"links":[[...],...],"busy":{"n3":[0,1]},
//    "quarantined":{"n4":[7]},"suspect":"n[5-6]","risk":{"n7":20}}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/inventory.h"
#include "core/topology.h"

namespace acrf {

struct ClusterState {
  std::vector<std::string> names;  // the node table
  std::vector<NodeState> nodes;    // in the same order; `kind` is an index into kinds
  std::vector<GpuGroups> kinds;
};

// An Error opens with "origin: field:", or "origin:line:" where the text is no JSON.
Result<ClusterState> parse_cluster_state(std::string_view text, std::string_view origin);

// The inventory has as many nodes as the state, and the topology was made for its node table.
void fill_inventory(const ClusterState& state, const Topology& topology, Inventory& inventory);

}  // namespace acrf
