// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/reallocate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/rank_order.h"
#include "random_topology.h"

namespace acrf {
namespace {

// Pods of leaves of nodes, all of the same size.
Topology regular_topology(int pods, int leaves, int nodes) {
  std::string text, pod_names;
  std::vector<std::string> names;
  const auto range = [](const char* prefix, int first, int count) {
    return prefix + ("[" + std::to_string(first)) + "-" + std::to_string(first + count - 1) + "]";
  };
  for (int leaf = 0; leaf < pods * leaves; ++leaf) {
    text +=
        "SwitchName=l" + std::to_string(leaf) + " Nodes=" + range("n", leaf * nodes, nodes) + "\n";
    for (int i = 0; i < nodes; ++i) names.push_back("n" + std::to_string(names.size()));
  }
  for (int pod = 0; pod < pods; ++pod)
    text += "SwitchName=p" + std::to_string(pod) + " Switches=" + range("l", pod * leaves, leaves) +
            "\n";
  text += "SwitchName=core Switches=" + range("p", 0, pods) + "\n";
  auto topology = Topology::parse(text, "topology.conf", names);
  EXPECT_TRUE(topology.ok()) << topology.error().sentence;
  return *topology;
}

Loss loss_of(const Topology& topology, std::vector<int> positions, const std::vector<int>& lost,
             const std::vector<int>& free, const std::vector<int>& avoid = {}) {
  const int size = topology.node_count();
  Loss loss{Traffic::kRing, std::move(positions), NodeSet(size),
            NodeSet(size),  NodeSet(size),        true};
  for (const int position : lost) loss.lost.set(position);
  for (const int position : free) loss.free.set(position);
  for (const int position : avoid) loss.avoid.set(position);
  return loss;
}

TEST(Reallocate, ANodeIsReplacedNextToItsNeighbours) {
  const auto topology = regular_topology(2, 2, 4);
  const auto found = reallocate(topology, loss_of(topology, {0, 1, 2, 4}, {1}, {3, 6, 12}));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->positions, (std::vector<int>{0, 3, 2, 4}));
  EXPECT_EQ(found->cost, found->cost_before);
  EXPECT_TRUE(found->exact());
}

TEST(Reallocate, EachRankGetsTheNodeOnItsOwnSide) {
  const auto topology = regular_topology(2, 2, 4);
  const auto found =
      reallocate(topology, loss_of(topology, {0, 1, 2, 8, 9, 10}, {1, 9}, {3, 11, 4, 5}));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->positions, (std::vector<int>{0, 3, 2, 8, 11, 10}));
}

TEST(Reallocate, NodesToAvoidAreTakenOnlyAsNeeded) {
  const auto topology = regular_topology(2, 2, 4);
  const auto loss = loss_of(topology, {0, 1, 2}, {1}, {3, 15}, {3});
  const auto found = reallocate(topology, loss);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->positions[1], 15);
  EXPECT_EQ(found->avoidable, 0);

  const auto both = reallocate(topology, loss_of(topology, {0, 1, 2}, {1, 2}, {3, 7, 15}, {3, 15}));
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(std::set<int>(both->positions.begin(), both->positions.end()),
            (std::set<int>{0, 3, 7}));
  EXPECT_EQ(both->avoidable, 1);
}

TEST(Reallocate, AGoodNodeIsNotOverlookedAmongRoomierLeaves) {
  const auto topology = regular_topology(1, 5, 4);
  const std::vector<int> avoid{8, 9, 10, 12, 13, 14, 16, 17, 18};
  auto free = avoid;
  free.push_back(7);
  const auto found = reallocate(topology, loss_of(topology, {0, 1, 2}, {1, 2}, free, avoid));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->avoidable, 1);
}

TEST(Reallocate, NoRoomIsAnAnswer) {
  const auto topology = regular_topology(2, 2, 4);
  EXPECT_FALSE(reallocate(topology, loss_of(topology, {0, 1, 2}, {0, 1}, {3})).has_value());
  // Its own nodes are no room, nor are lost ones.
  EXPECT_FALSE(reallocate(topology, loss_of(topology, {0, 1}, {1, 7}, {0, 1, 7})).has_value());
}

TEST(Reallocate, NothingLostChangesNothing) {
  const auto topology = regular_topology(2, 2, 4);
  const auto found = reallocate(topology, loss_of(topology, {0, 8, 1}, {5}, {3}));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->positions, (std::vector<int>{0, 8, 1}));
  EXPECT_EQ(found->cost, found->cost_before);
  EXPECT_TRUE(reallocate(topology, loss_of(topology, {}, {}, {})).has_value());
}

TEST(Reallocate, AJobThatLosesAllNodesIsPlacedAnew) {
  const auto topology = regular_topology(2, 2, 4);
  const auto found =
      reallocate(topology, loss_of(topology, {0, 4, 8}, {0, 4, 8}, {1, 5, 9, 13, 14, 15}));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->positions, (std::vector<int>{13, 14, 15}));
  EXPECT_EQ(found->cost, 0);
}

Loss random_loss(Random& random, const Topology& topology, Traffic traffic, int most_lost) {
  const int nodes = topology.node_count();
  const int size = 1 + random.below(nodes - 1);
  auto loss = loss_of(topology, random_positions(random, topology, size), {}, {});
  loss.traffic = traffic;
  if (!random.one_in(3)) loss.positions = order_for_ring(loss.positions);
  for (int i = 1 + random.below(std::min(size, most_lost)); i > 0; --i)
    loss.lost.set(loss.positions[static_cast<std::size_t>(random.below(size))]);
  const bool avoid = random.one_in(3);
  const int rare = 1 + random.below(3);
  for (int position = 0; position < nodes; ++position) {
    loss.free.put(position, random.one_in(rare));
    loss.avoid.put(position, avoid && random.one_in(2));
  }
  return loss;
}

// All ways to put lost ranks on candidates; nodes of one leaf that are alike stand for each other.
class BruteForce {
 public:
  BruteForce(const Topology& topology, const Loss& loss)
      : topology_(topology),
        loss_(loss),
        positions_(loss.positions),
        kinds_(topology.leaves().size()) {
    int good = 0;
    for (int rank = 0; rank < static_cast<int>(positions_.size()); ++rank)
      if (is_lost(rank)) lost_.push_back(rank);
    for (int position = 0; position < topology.node_count(); ++position) {
      const bool own = std::count(positions_.begin(), positions_.end(), position) > 0;
      if (own || !loss.free.test(position) || loss.lost.test(position)) continue;
      auto& kind = kinds_[static_cast<std::size_t>(topology.leaf_of(position))];
      (loss.avoid.test(position) ? kind.avoid : kind.good).push_back(position);
      good += !loss.avoid.test(position);
    }
    may_avoid_ = std::max(0, static_cast<int>(lost_.size()) - good);
  }

  // INT64_MAX: no room.
  std::int64_t least() {
    try_from(0, may_avoid_);
    return least_;
  }
  int avoidable() const { return may_avoid_; }

 private:
  struct Kind {
    std::vector<int> good, avoid;
  };
  bool is_lost(int rank) const {
    return loss_.lost.test(loss_.positions[static_cast<std::size_t>(rank)]);
  }
  void try_from(std::size_t next, int may_avoid) {
    if (next == lost_.size()) {
      const auto positions = loss_.keep_ranks ? positions_ : order_for_ring(positions_);
      least_ =
          std::min(least_, loss_.traffic == Traffic::kRing ? ring_cost(topology_, positions)
                                                           : all_to_all_cost(topology_, positions));
      return;
    }
    for (auto& kind : kinds_) {
      try_one(kind.good, next, may_avoid);
      if (may_avoid > 0) try_one(kind.avoid, next, may_avoid - 1);
    }
  }
  void try_one(std::vector<int>& alike, std::size_t next, int may_avoid) {
    if (alike.empty()) return;
    const int position = alike.back();
    alike.pop_back();
    positions_[static_cast<std::size_t>(lost_[next])] = position;
    try_from(next + 1, may_avoid);
    alike.push_back(position);
  }

  const Topology& topology_;
  const Loss& loss_;
  std::vector<int> positions_, lost_;
  std::vector<Kind> kinds_;
  int may_avoid_ = 0;
  std::int64_t least_ = INT64_MAX;
};

// Candidates only, each once, and the living where they were.
void expect_sound(const Topology& topology, const Loss& loss, const Reallocation& found) {
  const std::set<int> used(found.positions.begin(), found.positions.end());
  const std::set<int> own(loss.positions.begin(), loss.positions.end());
  EXPECT_EQ(used.size(), loss.positions.size());
  int avoidable = 0;
  for (const int position : used) {
    EXPECT_FALSE(loss.lost.test(position));
    if (own.count(position)) continue;
    EXPECT_TRUE(loss.free.test(position));
    avoidable += loss.avoid.test(position);
  }
  EXPECT_EQ(found.avoidable, avoidable);
  for (std::size_t rank = 0; rank < loss.positions.size(); ++rank) {
    const int before = loss.positions[rank];
    if (loss.lost.test(before)) continue;
    EXPECT_TRUE(used.count(before));
    if (loss.keep_ranks) {
      EXPECT_EQ(found.positions[rank], before);
    }
  }
  EXPECT_EQ(found.cost, loss.traffic == Traffic::kRing
                            ? ring_cost(topology, found.positions)
                            : all_to_all_cost(topology, found.positions));
}

void expect_best_of_all(std::uint64_t seed, Traffic traffic, bool keep_ranks) {
  Random random(seed);
  for (int solved = 0; solved < 2500;) {
    // Deep and uneven, or wide with many leaves alike.
    const TreeShape deep{10, 3, 3, 9}, wide{12, 7, 3, 2};
    const auto topology = random_topology(random, random.one_in(2) ? deep : wide);
    if (topology.node_count() < 2) continue;
    auto loss = random_loss(random, topology, traffic, 5);
    loss.keep_ranks = keep_ranks;
    const auto found = reallocate(topology, loss);
    BruteForce all(topology, loss);
    const auto least = all.least();
    ASSERT_EQ(found.has_value(), least != INT64_MAX);
    if (!found) continue;
    ++solved;
    expect_sound(topology, loss, *found);
    EXPECT_EQ(found->avoidable, all.avoidable());
    EXPECT_EQ(found->cost, least);
    EXPECT_TRUE(found->exact());
  }
}

TEST(Reallocate, OfAFewNodesOfARingIsTheBestOfAllWays) {
  expect_best_of_all(1, Traffic::kRing, true);
}

TEST(Reallocate, OfAnAllToAllIsTheBestOfAllWays) {
  expect_best_of_all(2, Traffic::kAllToAll, true);
}

TEST(Reallocate, WithNewRanksForAllIsTheBestOfAllWays) {
  expect_best_of_all(3, Traffic::kRing, false);
}

struct Measured {
  int solved = 0, proven = 0;
  std::int64_t cost = 0, bound = 0, with_new_ranks = 0;
};

// A ring of 128 loses runs of ranks at random places, while one node in `rare` is free.
Measured measure(std::uint64_t seed, int runs, int length, int rare) {
  const auto topology = regular_topology(6, 8, 16);
  Random random(seed);
  Measured sum;
  for (int round = 0; round < 100; ++round) {
    auto loss = loss_of(topology, order_for_ring(random_positions(random, topology, 128)), {}, {});
    for (int run = 0; run < runs; ++run) {
      const int first = random.below(128 - length);
      for (int i = first; i < first + length; ++i)
        loss.lost.set(loss.positions[static_cast<std::size_t>(i)]);
    }
    for (int position = 0; position < topology.node_count(); ++position)
      loss.free.put(position, random.one_in(rare));
    const auto found = reallocate(topology, loss);
    loss.keep_ranks = false;
    const auto anew = reallocate(topology, loss);
    if (!found || !anew) continue;
    expect_sound(topology, loss, *anew);
    EXPECT_LE(found->lower_bound, found->cost);
    EXPECT_LE(anew->cost, found->lower_bound);
    ++sum.solved;
    sum.proven += found->exact();
    sum.cost += found->cost;
    sum.bound += found->lower_bound;
    sum.with_new_ranks += anew->cost;
  }
  return sum;
}

void report(const Measured& sum) {
  const auto percent = [](std::int64_t part, std::int64_t whole) {
    return std::to_string(100.0 * static_cast<double>(part) / static_cast<double>(whole));
  };
  testing::Test::RecordProperty("solved", sum.solved);
  testing::Test::RecordProperty("proven_percent", percent(sum.proven, sum.solved));
  testing::Test::RecordProperty("gap_percent", percent(sum.cost - sum.bound, sum.cost));
  testing::Test::RecordProperty("new_ranks_percent", percent(sum.with_new_ranks, sum.cost));
}

TEST(Reallocate, ManySingleLossesAreExact) {
  const auto sum = measure(4, 12, 1, 10);
  report(sum);
  EXPECT_GT(sum.proven * 100, sum.solved * 85);  // some are neighbours
  EXPECT_LT((sum.cost - sum.bound) * 100, sum.cost);
}

TEST(Reallocate, ManyRunsReportTheirGap) {
  const auto sum = measure(5, 8, 3, 10);
  report(sum);
  EXPECT_GT(sum.proven, 0);
  EXPECT_LT((sum.cost - sum.bound) * 100, sum.cost * 5);
}

TEST(Reallocate, ManyPairsWithLittleRoomReportTheirGap) {
  const auto sum = measure(6, 12, 2, 20);
  report(sum);
  EXPECT_LT((sum.cost - sum.bound) * 100, sum.cost * 5);
}

TEST(Reallocate, TwelveThousandNodesAreNotTooMany) {
  const auto topology = regular_topology(12, 33, 32);
  Random random(7);
  auto loss = loss_of(topology, order_for_ring(random_positions(random, topology, 1024)), {}, {});
  for (int rank = 100; rank < 132; ++rank)
    loss.lost.set(loss.positions[static_cast<std::size_t>(rank)]);
  for (int i = 0; i < 4; ++i)
    loss.lost.set(loss.positions[static_cast<std::size_t>(200 + 100 * i)]);
  for (int position = 0; position < topology.node_count(); ++position)
    loss.free.put(position, random.one_in(20));
  const auto found = reallocate(topology, loss);
  ASSERT_TRUE(found.has_value());
  expect_sound(topology, loss, *found);
  EXPECT_LT(found->gap() * 100, found->cost);
}

}  // namespace
}  // namespace acrf
