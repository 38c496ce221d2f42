// SPDX-License-Identifier: GPL-2.0-or-later
// The solvers against brute force over every split of a job over the leaves.
#include "core/ring_pack.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <numeric>

#include "core/tree_knapsack.h"
#include "random_tree.h"

namespace acrf {
namespace {

constexpr int kCases = 10000;

void each_split(const std::vector<int>& free, int wanted,
                const std::function<void(const std::vector<LeafShare>&)>& visit) {
  std::vector<LeafShare> shares;
  const std::function<void(std::size_t, int)> descend = [&](std::size_t leaf, int rest) {
    if (leaf == free.size()) {
      if (rest == 0) visit(shares);
      return;
    }
    for (int k = 0; k <= std::min(free[leaf], rest); ++k) {
      if (k > 0) shares.push_back({static_cast<int>(leaf), k});
      descend(leaf + 1, rest - k);
      if (k > 0) shares.pop_back();
    }
  };
  descend(0, wanted);
}

std::int64_t brute_force(const RandomTree& tree, int wanted, Traffic traffic) {
  auto best = std::numeric_limits<std::int64_t>::max();
  each_split(tree.free, wanted, [&](const std::vector<LeafShare>& shares) {
    best = std::min(best, share_cost(tree.topology, shares, traffic));
  });
  return best;
}

void expect_valid(const RandomTree& tree, const std::vector<LeafShare>& shares, int wanted) {
  int total = 0;
  for (const auto& share : shares) {
    EXPECT_GT(share.count, 0);
    EXPECT_LE(share.count, tree.free[static_cast<std::size_t>(share.leaf)]);
    total += share.count;
  }
  EXPECT_EQ(total, wanted);
}

class Packing : public testing::TestWithParam<bool> {};

TEST_P(Packing, TreeKnapsackIsTheLeastCostForBothKindsOfTraffic) {
  Random random(GetParam() ? 1 : 2);
  for (int i = 0; i < kCases; ++i) {
    const auto tree = random_tree(random, 5, 4, GetParam());
    if (tree.total == 0) continue;
    const int wanted = 1 + random.below(tree.total);
    for (const auto traffic : {Traffic::kRing, Traffic::kAllToAll}) {
      const auto shares = tree_knapsack(tree.topology, tree.free, wanted, traffic);
      ASSERT_TRUE(shares);
      expect_valid(tree, *shares, wanted);
      ASSERT_EQ(share_cost(tree.topology, *shares, traffic), brute_force(tree, wanted, traffic))
          << "case " << i;
    }
    EXPECT_FALSE(tree_knapsack(tree.topology, tree.free, tree.total + 1, Traffic::kRing));
  }
}

TEST_P(Packing, RingPackIsTheLeastCost) {
  Random random(GetParam() ? 3 : 4);
  for (int i = 0; i < kCases; ++i) {
    const auto tree = random_tree(random, 5, 4, GetParam());
    if (tree.total == 0) continue;
    const int wanted = 1 + random.below(tree.total);
    RingPack pack(tree.topology);
    PackAnswer answer;
    ASSERT_TRUE(pack.solve(tree.free, wanted, answer));
    expect_valid(tree, answer.shares, wanted);
    ASSERT_EQ(answer.cost, share_cost(tree.topology, answer.shares, Traffic::kRing))
        << "case " << i;
    ASSERT_EQ(answer.cost, brute_force(tree, wanted, Traffic::kRing)) << "case " << i;
    EXPECT_TRUE(answer.certified);
    EXPECT_FALSE(pack.solve(tree.free, tree.total + 1, answer));
  }
}

TEST_P(Packing, EveryTouchedLeafButOneIsUsedWhole) {
  Random random(GetParam() ? 5 : 6);
  for (int i = 0; i < kCases; ++i) {
    const auto tree = random_tree(random, 8, 6, GetParam());
    if (tree.total == 0) continue;
    RingPack pack(tree.topology);
    PackAnswer answer;
    ASSERT_TRUE(pack.solve(tree.free, 1 + random.below(tree.total), answer));
    int partial = 0;
    for (const auto& share : answer.shares)
      partial += share.count < tree.free[static_cast<std::size_t>(share.leaf)];
    EXPECT_LE(partial, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Weights, Packing, testing::Values(false, true),
                         [](const auto& weights) { return weights.param ? "Random" : "Equal"; });

TEST(RingPack, LargerTreesAgreeWithTheKnapsackOrSayThatTheyMayNot) {
  Random random(7);
  int uncertified = 0, cases = 0;
  std::int64_t cost = 0, least = 0;
  for (int i = 0; i < 400; ++i) {
    const auto tree = random_tree(random, 40, 32, i % 2 == 0);
    if (tree.total == 0) continue;
    const int wanted = 1 + random.below(tree.total);
    RingPack pack(tree.topology);
    PackAnswer answer;
    ASSERT_TRUE(pack.solve(tree.free, wanted, answer));
    const auto exact = tree_knapsack(tree.topology, tree.free, wanted, Traffic::kRing);
    const auto exact_cost = share_cost(tree.topology, *exact, Traffic::kRing);
    if (answer.certified) {
      ASSERT_EQ(answer.cost, exact_cost) << "case " << i;
    }
    EXPECT_LE(answer.lower_bound, exact_cost);
    uncertified += !answer.certified;
    ++cases;
    cost += answer.cost;
    least += exact_cost;
  }
  EXPECT_LE(cost * 100, least * 101) << uncertified << " of " << cases << " not certified";
}

TEST(RingPack, TakesTheTightestLeafThatFits) {
  std::vector<std::string> nodes;
  for (int i = 0; i < 12; ++i) nodes.push_back("n" + std::to_string(i));
  const auto topology = *Topology::parse(
      "SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=n[4-7]\nSwitchName=c Nodes=n[8-11]\n"
      "SwitchName=top Switches=a,b,c\n",
      "t", nodes);
  RingPack pack(topology);
  PackAnswer answer;
  ASSERT_TRUE(pack.solve({4, 2, 3}, 2, answer));
  EXPECT_EQ(answer.shares, (std::vector<LeafShare>{{1, 2}}));
  // Five nodes: the largest leaf whole, the rest on the tightest.
  ASSERT_TRUE(pack.solve({4, 2, 3}, 5, answer));
  EXPECT_EQ(answer.shares, (std::vector<LeafShare>{{0, 4}, {1, 1}}));
}

TEST(RingPack, ByLeavesTouchesTheFewestLeavesEvenAcrossPods) {
  Random random(8);
  for (int i = 0; i < 2000; ++i) {
    const auto tree = random_tree(random, 5, 4, true);
    if (tree.total == 0) continue;
    const int wanted = 1 + random.below(tree.total);
    auto pack = RingPack::by_leaves(tree.topology);
    PackAnswer answer;
    ASSERT_TRUE(pack.solve(tree.free, wanted, answer));
    std::size_t fewest = tree.free.size();
    each_split(tree.free, wanted,
               [&](const auto& shares) { fewest = std::min(fewest, shares.size()); });
    EXPECT_EQ(answer.shares.size(), fewest);
  }
}

}  // namespace
}  // namespace acrf
