// SPDX-License-Identifier: GPL-2.0-or-later
// The exact answer for any tree, any weights and any concave traffic: the cost is separable over
// the tree, so D(v, k), the least cost of taking k nodes below v, follows from v's children.
// O(nodes x wanted) steps: the reference that the fast solver is measured against, and the solver
// for all-to-all traffic.
#pragma once

#include <optional>
#include <vector>

#include "core/leaf_share.h"

namespace acrf {

// `free`: free nodes by leaf index. Nothing when they are fewer than `wanted`.
std::optional<std::vector<LeafShare>> tree_knapsack(const Topology& topology,
                                                    const std::vector<int>& free, int wanted,
                                                    Traffic traffic);

}  // namespace acrf
