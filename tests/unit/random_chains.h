// SPDX-License-Identifier: GPL-2.0-or-later
// Small problems of chains that share leaves, for property tests.
#pragma once

#include <algorithm>
#include <vector>

#include "core/chain.h"
#include "random_topology.h"

namespace acrf {

struct ChainProblem {
  Topology topology;
  std::vector<int> leaves;  // all
  std::vector<LeafRoom> rooms;
  std::vector<std::vector<int>> ends;  // by chain: positions
  std::vector<int> lengths;

  std::vector<Chain> chains(const TreeFill& fill) const {
    std::vector<Chain> all;
    for (std::size_t c = 0; c < lengths.size(); ++c) {
      std::vector<int> counts(leaves.size());
      for (const int end : ends[c]) ++counts[static_cast<std::size_t>(topology.leaf_of(end))];
      all.push_back({lengths[c], fill.placed(Traffic::kRing, counts)});
    }
    return all;
  }
};

// One time in three, part of the room must be used up. There may be too little room.
inline ChainProblem random_chains(Random& random, int most_chains, int longest) {
  ChainProblem problem{random_topology(random, {9, 3, 2, 9}), {}, {}, {}, {}};
  int wanted = 0, must = 0;
  for (int c = 1 + random.below(most_chains); c > 0; --c) {
    const int nodes = problem.topology.node_count();
    problem.ends.push_back({random.below(nodes), random.below(nodes)});
    problem.lengths.push_back(1 + random.below(longest));
    wanted += problem.lengths.back();
  }
  const bool use_up = random.one_in(3);
  for (int leaf = 0; leaf < static_cast<int>(problem.topology.leaves().size()); ++leaf) {
    LeafRoom room{0, random.below(4), 0};
    if (use_up) room.low = std::min(random.below(room.high + 1), wanted - must);
    must += room.low;
    problem.leaves.push_back(leaf);
    problem.rooms.push_back(room);
  }
  return problem;
}

// The least cost of all ways to give leaves to chains, node by node; -1: there is none.
class BruteForceChains {
 public:
  BruteForceChains(const ChainProblem& problem, const TreeFill& fill)
      : problem_(problem),
        fill_(fill),
        chains_(problem.chains(fill)),
        counts_(chains_.size(), std::vector<int>(problem.leaves.size())),
        used_(problem.leaves.size()) {}

  std::int64_t least() {
    try_from(0, 0, 0);
    return least_;
  }

 private:
  // Nodes of a chain come in the order of leaves: their order is free.
  void try_from(std::size_t chain, int placed, std::size_t first_leaf) {
    if (chain == chains_.size()) return judge();
    if (placed == chains_[chain].length) return try_from(chain + 1, 0, 0);
    for (std::size_t leaf = first_leaf; leaf < used_.size(); ++leaf) {
      if (used_[leaf] == problem_.rooms[leaf].high) continue;
      ++used_[leaf];
      ++counts_[chain][leaf];
      try_from(chain, placed + 1, leaf);
      --counts_[chain][leaf];
      --used_[leaf];
    }
  }
  void judge() {
    std::int64_t cost = 0;
    for (std::size_t leaf = 0; leaf < used_.size(); ++leaf)
      if (used_[leaf] < problem_.rooms[leaf].low) return;
    for (std::size_t c = 0; c < chains_.size(); ++c)
      cost += fill_.cost(chains_[c].ends, counts_[c]);
    if (least_ < 0 || cost < least_) least_ = cost;
  }

  const ChainProblem& problem_;
  const TreeFill& fill_;
  std::vector<Chain> chains_;
  std::vector<std::vector<int>> counts_;
  std::vector<int> used_;
  std::int64_t least_ = -1;
};

// Whether every chain gets its nodes, rooms are kept to, and the cost is what it says.
inline void expect_sound(const ChainProblem& problem, const TreeFill& fill,
                         const ChainShares& shares) {
  const auto chains = problem.chains(fill);
  std::int64_t cost = 0;
  std::vector<int> used(problem.leaves.size());
  for (std::size_t c = 0; c < chains.size(); ++c) {
    int length = 0;
    for (std::size_t leaf = 0; leaf < used.size(); ++leaf) {
      used[leaf] += shares.counts[c][leaf];
      length += shares.counts[c][leaf];
    }
    EXPECT_EQ(length, chains[c].length);
    cost += fill.cost(chains[c].ends, shares.counts[c]);
  }
  EXPECT_EQ(shares.cost, cost);
  EXPECT_LE(shares.lower_bound, shares.cost);
  for (std::size_t leaf = 0; leaf < used.size(); ++leaf) {
    EXPECT_GE(used[leaf], problem.rooms[leaf].low);
    EXPECT_LE(used[leaf], problem.rooms[leaf].high);
  }
}

}  // namespace acrf
