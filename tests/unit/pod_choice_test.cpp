// SPDX-License-Identifier: GPL-2.0-or-later
// The choice of pods against all choices, and against the exact table on larger trees.
#include "core/pod_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "core/ring_pack.h"
#include "core/tree_knapsack.h"
#include "random.h"

namespace acrf {
namespace {

struct Pods {
  std::vector<std::pair<int, int>> ranges;
  std::vector<int> free;
  int total = 0;
};

Pods random_pods(Random& random, int most_pods, int most_leaves, int largest) {
  Pods pods;
  const int count = 2 + random.below(most_pods - 1);
  for (int pod = 0; pod < count; ++pod) {
    const int first = static_cast<int>(pods.free.size());
    for (int leaf = 1 + random.below(most_leaves); leaf > 0; --leaf) {
      pods.free.push_back(random.below(largest + 1));
      pods.total += pods.free.back();
    }
    pods.ranges.emplace_back(first, static_cast<int>(pods.free.size()));
  }
  return pods;
}

// Leaves that these pods need, largest first, one of each at least; -1: they hold too little.
int leaves_for(const Pods& pods, const std::vector<int>& chosen, int wanted) {
  std::vector<int> sizes;
  for (const int pod : chosen) {
    const auto [first, end] = pods.ranges[static_cast<std::size_t>(pod)];
    sizes.insert(sizes.end(), pods.free.begin() + first, pods.free.begin() + end);
  }
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  int leaves = 0;
  for (const int size : sizes) {
    if (wanted <= 0) break;
    wanted -= size;
    ++leaves;
  }
  return wanted > 0 ? -1 : std::max(leaves, static_cast<int>(chosen.size()));
}

std::int64_t least_cost(const Pods& pods, int wanted, PodChoice::Weights weights,
                        std::int64_t limit) {
  for (unsigned mask = 0; mask < 1u << pods.ranges.size(); ++mask) {
    if (std::popcount(mask) < 2) continue;
    std::vector<int> chosen;
    for (unsigned rest = mask; rest; rest &= rest - 1) chosen.push_back(std::countr_zero(rest));
    if (const int leaves = leaves_for(pods, chosen, wanted); leaves >= 0)
      limit = std::min(limit, std::popcount(mask) * weights.pod + leaves * weights.leaf);
  }
  return limit;
}

TEST(PodChoice, IsTheLeastCostOfAllChoices) {
  Random random(11);
  PodChoice choice;
  int better = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto pods = random_pods(random, 7, 5, 6);
    if (pods.total == 0) continue;
    const int wanted = 1 + random.below(pods.total);
    const PodChoice::Weights weights{1 + random.below(9), 1 + random.below(4)};
    const std::int64_t limit = 1 + random.below(60);
    choice.load(pods.ranges, pods.free, *std::max_element(pods.free.begin(), pods.free.end()));
    const auto answer = choice.cheapest(wanted, weights, limit);
    const auto least = least_cost(pods, wanted, weights, limit);
    ASSERT_EQ(answer.bound, least) << "case " << i;
    ASSERT_EQ(answer.pods.empty(), least == limit) << "case " << i;
    if (answer.pods.empty()) continue;
    ++better;
    EXPECT_EQ(static_cast<std::int64_t>(answer.pods.size()) * weights.pod +
                  leaves_for(pods, answer.pods, wanted) * weights.leaf,
              least)
        << "case " << i;
  }
  EXPECT_GT(better, 1000);
}

// A Clos of many pods: all leaves alike, all pods alike.
Topology clos(int pods, int leaves, int nodes) {
  std::string text, tops;
  std::vector<std::string> names;
  for (int pod = 0, leaf = 0; pod < pods; ++pod) {
    text += "SwitchName=p" + std::to_string(pod) + " Switches=l[" + std::to_string(leaf) + "-" +
            std::to_string(leaf + leaves - 1) + "]\n";
    for (const int end = leaf + leaves; leaf < end; ++leaf) {
      text += "SwitchName=l" + std::to_string(leaf) + " Nodes=n[" + std::to_string(leaf * nodes) +
              "-" + std::to_string((leaf + 1) * nodes - 1) + "]\n";
      for (int node = 0; node < nodes; ++node) names.push_back("n" + std::to_string(names.size()));
    }
  }
  text += "SwitchName=core Switches=p[0-" + std::to_string(pods - 1) + "]\n";
  return *Topology::parse(text, "topology.conf", names);
}

TEST(PodChoice, RingsOverManyPodsAgreeWithTheKnapsackOrSayThatTheyMayNot) {
  Random random(12);
  const auto topology = clos(14, 8, 16);
  RingPack pack(topology);
  int certified = 0, cases = 0;
  for (int i = 0; i < 300; ++i) {
    std::vector<int> free;
    int total = 0;
    const int busy = random.below(17);
    for (std::size_t leaf = 0; leaf < topology.leaves().size(); ++leaf) {
      free.push_back(std::max(0, random.below(17) - random.below(busy + 1)));
      total += free.back();
    }
    if (total < 2) continue;
    const int wanted = 1 + random.below(total);
    PackAnswer answer;
    ASSERT_TRUE(pack.solve(free, wanted, answer));
    const auto exact = tree_knapsack(topology, free, wanted, Traffic::kRing);
    const auto least = share_cost(topology, *exact, Traffic::kRing);
    ASSERT_EQ(answer.cost, share_cost(topology, answer.shares, Traffic::kRing)) << "case " << i;
    if (answer.certified) {
      ASSERT_EQ(answer.cost, least) << "case " << i;
    }
    EXPECT_LE(answer.lower_bound, least) << "case " << i;
    certified += answer.certified;
    ++cases;
  }
  EXPECT_GE(certified * 100, cases * 99) << certified << " of " << cases;
}

}  // namespace
}  // namespace acrf
