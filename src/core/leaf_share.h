// SPDX-License-Identifier: GPL-2.0-or-later
// How many nodes a job takes from each leaf, and what that costs.
#pragma once

#include <cstdint>
#include <vector>

#include "core/topology.h"

namespace acrf {

struct LeafShare {
  int leaf = 0;  // index into Topology::leaves()
  int count = 0;
  bool operator==(const LeafShare&) const = default;
};

// The flows that a job's traffic puts on the link above a switch that holds k of its n nodes.
enum class Traffic { kRing, kAllToAll };
std::int64_t flows(Traffic traffic, int k, int n);

// Sum over the links of weight times flows.
std::int64_t share_cost(const Topology& topology, const std::vector<LeafShare>& shares,
                        Traffic traffic);

// The leaves that were touched, and the switches right above leaves.
struct Footprint {
  int leaves = 0;
  int pods = 0;
};
Footprint footprint(const Topology& topology, const std::vector<LeafShare>& shares);

}  // namespace acrf
