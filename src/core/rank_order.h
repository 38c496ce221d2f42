// SPDX-License-Identifier: GPL-2.0-or-later
// Which rank sits where. A closed tour crosses every link that it needs at least twice, and a tour
// in depth-first order exactly twice: so ranks in the order of their positions make a ring as cheap
// as its nodes allow.
#pragma once

#include <cstdint>
#include <vector>

#include "core/topology.h"

namespace acrf {

// Sum of the distances from each rank to the next, and from the last to the first. positions[i] is
// rank i's.
std::int64_t ring_cost(const Topology& topology, const std::vector<int>& positions);

// Sum of the distances between all pairs. O(n + switches).
std::int64_t all_to_all_cost(const Topology& topology, const std::vector<int>& positions);

// The same positions in the order of ranks that makes the ring cheapest.
std::vector<int> order_for_ring(std::vector<int> positions);

// The same positions in the order that makes the way from `from` through all of them to `to`
// cheapest: links on the way between the two are crossed once, others that are needed twice.
std::vector<int> order_between(const Topology& topology, int from, int to,
                               std::vector<int> positions);

}  // namespace acrf
