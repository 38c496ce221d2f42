// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/tree_fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/rank_order.h"
#include "random_topology.h"

namespace acrf {
namespace {

// Positions that stand for so many nodes of each leaf, whatever the leaf's size.
std::vector<int> stand_ins(const Topology& topology, const std::vector<int>& counts) {
  std::vector<int> positions;
  for (std::size_t leaf = 0; leaf < counts.size(); ++leaf)
    positions.insert(positions.end(), static_cast<std::size_t>(counts[leaf]),
                     topology.leaf(static_cast<int>(leaf)).first);
  return positions;
}

std::int64_t traffic_cost(const Topology& topology, Traffic traffic, std::vector<int> counts,
                          const std::vector<int>& more) {
  for (std::size_t leaf = 0; leaf < more.size(); ++leaf) counts[leaf] += more[leaf];
  const auto positions = stand_ins(topology, counts);
  return traffic == Traffic::kRing ? ring_cost(topology, positions)
                                   : all_to_all_cost(topology, positions);
}

struct Case {
  Topology topology;
  Traffic traffic;
  std::vector<int> placed, leaves;
  std::vector<LeafRoom> rooms;
  int wanted;
};

Case random_case(Random& random) {
  Case made{random_topology(random, {9, 3, 2, 9}), Traffic::kRing, {}, {}, {}, random.below(6)};
  if (random.one_in(2)) made.traffic = Traffic::kAllToAll;
  const bool priced = random.one_in(3), use_up = random.one_in(4), empty = random.one_in(4);
  for (int leaf = 0; leaf < static_cast<int>(made.topology.leaves().size()); ++leaf) {
    made.leaves.push_back(leaf);
    made.placed.push_back(empty || random.one_in(2) ? 0 : random.below(3));
    LeafRoom room{0, random.below(4), priced ? random.below(30) - 15 : 0};
    if (use_up && random.one_in(3)) room.low = random.below(room.high + 1);
    made.rooms.push_back(room);
  }
  return made;
}

// The least cost of all counts; -1000000: there are none.
std::int64_t brute_force(const Case& c, std::vector<int>& counts, std::size_t leaf, int left) {
  constexpr std::int64_t kNone = -1'000'000;
  if (leaf == counts.size()) {
    if (left > 0) return kNone;
    std::int64_t cost = traffic_cost(c.topology, c.traffic, c.placed, counts);
    for (std::size_t i = 0; i < counts.size(); ++i) cost += counts[i] * c.rooms[i].price;
    return cost;
  }
  std::int64_t least = kNone;
  for (int j = c.rooms[leaf].low; j <= std::min(left, c.rooms[leaf].high); ++j) {
    counts[leaf] = j;
    const auto cost = brute_force(c, counts, leaf + 1, left - j);
    if (cost != kNone && (least == kNone || cost < least)) least = cost;
  }
  counts[leaf] = 0;
  return least;
}

TEST(TreeFill, CountsAreTheBestOfAllCounts) {
  Random random(1);
  int solved = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto c = random_case(random);
    TreeFill fill(c.topology, c.leaves);
    const auto placed = fill.placed(c.traffic, c.placed);
    const auto answer = fill.solve(placed, c.wanted, c.rooms);
    std::vector<int> counts(c.leaves.size());
    const auto least = brute_force(c, counts, 0, c.wanted);
    ASSERT_EQ(answer.has_value(), least != -1'000'000);
    if (!answer) continue;
    ++solved;
    EXPECT_EQ(answer->cost, least);
    EXPECT_EQ(std::accumulate(answer->counts.begin(), answer->counts.end(), 0), c.wanted);
    std::int64_t cost = fill.cost(placed, answer->counts);
    EXPECT_EQ(cost, traffic_cost(c.topology, c.traffic, c.placed, answer->counts));
    for (std::size_t leaf = 0; leaf < c.leaves.size(); ++leaf) {
      EXPECT_GE(answer->counts[leaf], c.rooms[leaf].low);
      EXPECT_LE(answer->counts[leaf], c.rooms[leaf].high);
      cost += answer->counts[leaf] * c.rooms[leaf].price;
    }
    EXPECT_EQ(answer->cost, cost);
  }
  EXPECT_GT(solved, 2000);
}

TEST(TreeFill, TouchingALeafCostsWhatItSays) {
  Random random(2);
  for (int round = 0; round < 500; ++round) {
    auto c = random_case(random);
    c.placed[static_cast<std::size_t>(random.below(static_cast<int>(c.placed.size())))] = 2;
    const TreeFill fill(c.topology, c.leaves);
    const auto placed = fill.placed(Traffic::kRing, c.placed);
    const auto touch = fill.touch_costs(placed);
    for (std::size_t leaf = 0; leaf < c.leaves.size(); ++leaf) {
      std::vector<int> one(c.leaves.size());
      one[leaf] = 1;
      EXPECT_EQ(touch[leaf], fill.cost(placed, one));
    }
  }
}

TEST(TreeFill, AFlatClusterCostsNothing) {
  TreeFill fill(Topology::flat(8), {0});
  const auto answer = fill.solve(fill.placed(Traffic::kRing, {3}), 4, {{0, 5, 0}});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->counts, std::vector<int>{4});
  EXPECT_EQ(answer->cost, 0);
  EXPECT_FALSE(fill.solve(fill.placed(Traffic::kRing, {3}), 6, {{0, 5, 0}}).has_value());
}

TEST(TreeFill, LeavesThatAreLeftOutCountForNothing) {
  const auto topology =
      Topology::parse("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=c Nodes=n3\n",
                      "topology.conf", {"n1", "n2", "n3"});
  ASSERT_TRUE(topology.ok());
  TreeFill fill(*topology, {0, 2}, 10);
  const auto answer = fill.solve(fill.placed(Traffic::kRing, {1, 0}), 1, {{0, 0, 0}, {0, 1, 0}});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->counts, (std::vector<int>{0, 1}));
  EXPECT_EQ(answer->cost, 10 * 2 * topology->distance(0, 2));
}

}  // namespace
}  // namespace acrf
