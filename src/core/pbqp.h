// SPDX-License-Identifier: GPL-2.0-or-later
// Partitioned boolean quadratic problems: every node takes one of its options, at that option's
// cost, and every edge adds a cost that depends on the options of its two ends. Nodes of degree 0,
// 1 and 2 are removed without loss (R0, R1, R2), so chains, trees and rings are solved exactly.
// Only a node of higher degree has its option fixed by a local choice (RN); the answer then carries
// a lower bound besides its cost.
#pragma once

#include <cstdint>
#include <vector>

namespace acrf {

// The cost of what must not be. Sums that reach it stay there; other sums must stay far below it.
inline constexpr std::int64_t kForbidden = INT64_MAX / 8;

struct PbqpAnswer {
  std::vector<int> option;       // of every node
  std::int64_t cost = 0;         // kForbidden: nothing allowed was found
  std::int64_t lower_bound = 0;  // no choice costs less
  bool exact = true;             // RN was not needed: no choice costs less than `cost`
  std::int64_t gap() const { return cost - lower_bound; }
};

class Pbqp {
 public:
  // Returns the node's number, counted from 0. `costs` has one entry per option, at least one.
  int add_node(std::vector<std::int64_t> costs);

  // cost(i, j): for option i of a and option j of b, a != b. Edges between the same nodes add up.
  template <typename PairCost>
  void add_edge(int a, int b, PairCost cost) {
    Edge edge{a, b, {}};
    for (int i = 0; i < options(a); ++i)
      for (int j = 0; j < options(b); ++j) edge.costs.push_back(cost(i, j));
    edges_.push_back(std::move(edge));
  }

  int node_count() const { return static_cast<int>(nodes_.size()); }
  int options(int node) const {
    return static_cast<int>(nodes_[static_cast<std::size_t>(node)].size());
  }

  // The cost of a choice, which names an option of every node.
  std::int64_t cost(const std::vector<int>& option) const;

  // With o options per node: O(o^2) per R1, O(o^3) per R2.
  PbqpAnswer solve() const;

 private:
  friend class PbqpReduction;
  struct Edge {
    int a, b;
    std::vector<std::int64_t> costs;  // by a's option, then b's
  };
  void improve(std::vector<int>& option) const;

  std::vector<std::vector<std::int64_t>> nodes_;
  std::vector<Edge> edges_;
};

}  // namespace acrf
