// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/rank_order.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "random_topology.h"

namespace acrf {
namespace {

// The least of cost(order) over all orders of the positions.
template <typename OrderCost>
std::int64_t best_of_all_orders(std::vector<int> positions, OrderCost cost) {
  std::sort(positions.begin(), positions.end());
  std::int64_t least = INT64_MAX;
  do least = std::min(least, cost(positions));
  while (std::next_permutation(positions.begin(), positions.end()));
  return least;
}

std::int64_t way_cost(const Topology& topology, int from, int to, const std::vector<int>& through) {
  std::int64_t sum = 0;
  int last = from;
  for (const int position : through) {
    sum += topology.distance(last, position);
    last = position;
  }
  return sum + topology.distance(last, to);
}

TEST(RankOrder, ARingOfOneOrNoneIsFree) {
  const auto topology = Topology::flat(4);
  EXPECT_EQ(ring_cost(topology, {}), 0);
  EXPECT_EQ(ring_cost(topology, {2}), 0);
  EXPECT_EQ(all_to_all_cost(topology, {0, 1, 2}), 0);
}

TEST(RankOrder, TheRingIsClosed) {
  const auto topology = Topology::parse("SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\n",
                                        "topology.conf", {"n1", "n2", "n3", "n4"});
  ASSERT_TRUE(topology.ok());
  EXPECT_EQ(ring_cost(*topology, {0, 1, 2, 3}), 4);
  EXPECT_EQ(ring_cost(*topology, {0, 2, 1, 3}), 8);
  EXPECT_EQ(order_for_ring({0, 2, 1, 3}), (std::vector<int>{0, 1, 2, 3}));
}

TEST(RankOrder, DepthFirstOrderIsTheBestOfAllOrders) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    const auto topology = random_topology(random, {});
    const int count = 1 + random.below(std::min(7, topology.node_count()));
    const auto positions = random_positions(random, topology, count);
    const auto ordered = order_for_ring(positions);
    EXPECT_TRUE(std::is_permutation(ordered.begin(), ordered.end(), positions.begin()));
    EXPECT_EQ(ring_cost(topology, ordered), best_of_all_orders(positions, [&](const auto& order) {
                return ring_cost(topology, order);
              }));
  }
}

TEST(RankOrder, TheWayBetweenTwoNodesIsTheBestOfAllOrders) {
  Random random(2);
  for (int round = 0; round < 2000; ++round) {
    const auto topology = random_topology(random, {12, 3, 2, 9});
    const int count = random.below(std::min(7, topology.node_count()) + 1);
    const auto positions = random_positions(random, topology, count);
    const int from = random.below(topology.node_count()), to = random.below(topology.node_count());
    const auto ordered = order_between(topology, from, to, positions);
    EXPECT_TRUE(std::is_permutation(ordered.begin(), ordered.end(), positions.begin()));
    EXPECT_EQ(way_cost(topology, from, to, ordered),
              best_of_all_orders(positions, [&](const auto& order) {
                return way_cost(topology, from, to, order);
              }));
  }
}

TEST(RankOrder, AllToAllIsTheSumOverPairs) {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    const auto topology = random_topology(random, {});
    const auto positions =
        random_positions(random, topology, random.below(topology.node_count() + 1));
    std::int64_t sum = 0;
    for (std::size_t b = 1; b < positions.size(); ++b)
      for (std::size_t a = 0; a < b; ++a) sum += topology.distance(positions[a], positions[b]);
    EXPECT_EQ(all_to_all_cost(topology, positions), sum);
  }
}

}  // namespace
}  // namespace acrf
