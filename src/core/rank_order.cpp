// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/rank_order.h"

#include <algorithm>
#include <tuple>

namespace acrf {

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// The lowest switch above both; switch numbers grow downwards.
int meeting_switch(const Topology& topology, int a, int b) {
  int left = topology.leaves()[at(topology.leaf_of(a))];
  int right = topology.leaves()[at(topology.leaf_of(b))];
  while (left != right) {
    int& lower = left > right ? left : right;
    lower = topology.switches()[at(lower)].parent;
  }
  return left;
}

}  // namespace

std::int64_t ring_cost(const Topology& topology, const std::vector<int>& positions) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < positions.size(); ++i)
    sum += topology.distance(positions[i], positions[(i + 1) % positions.size()]);
  return sum;
}

std::int64_t all_to_all_cost(const Topology& topology, const std::vector<int>& positions) {
  std::vector<std::int64_t> below(topology.switches().size());
  for (const int position : positions)
    ++below[at(topology.leaves()[at(topology.leaf_of(position))])];
  std::int64_t sum = 0;
  for (std::size_t i = below.size(); i-- > 1;) {
    const auto& link = topology.switches()[i];
    below[at(link.parent)] += below[i];
    sum += link.weight * below[i] * (static_cast<std::int64_t>(positions.size()) - below[i]);
  }
  return sum;
}

std::vector<int> order_for_ring(std::vector<int> positions) {
  std::sort(positions.begin(), positions.end());
  return positions;
}

// The way climbs from `from` to the switch where the two ends meet and descends to `to`. Every
// other position hangs on one switch of that way, or meets both ends further up. Served in the
// order in which the way passes those switches, each of their branches is entered and left once.
std::vector<int> order_between(const Topology& topology, int from, int to,
                               std::vector<int> positions) {
  const int top = meeting_switch(topology, from, to);
  const auto key = [&](int position) {
    const int climb = meeting_switch(topology, from, position);
    const int descent = meeting_switch(topology, to, position);
    if (descent > top) return std::tuple(1, descent, position);
    return std::tuple(0, -climb, position);
  };
  std::sort(positions.begin(), positions.end(), [&](int a, int b) { return key(a) < key(b); });
  return positions;
}

}  // namespace acrf
