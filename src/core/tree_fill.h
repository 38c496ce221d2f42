// SPDX-License-Identifier: GPL-2.0-or-later
// How many nodes to take from each leaf, beside nodes that have their place already, so that links
// cost least. A link's cost depends on the number of nodes below it alone: so a table per switch,
// "the cheapest way to take j nodes below here", merged child by child, is exact.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/leaf_share.h"
#include "core/topology.h"

namespace acrf {

// What a leaf may give: low <= count <= high, at `price` each besides the cost of links.
struct LeafRoom {
  int low = 0, high = 0;
  std::int64_t price = 0;
};

// Keeps its work space: one object, one caller at a time. Copies what it needs of the topology.
class TreeFill {
 public:
  // `leaves`: the leaves that may give nodes or hold placed ones: indices into topology.leaves(),
  // ascending. Everywhere below, leaves are numbered by their place in it ("slot"). Costs are
  // multiples of `scale`, so that prices can be fractions of a link's.
  TreeFill(const Topology& topology, const std::vector<int>& leaves, std::int64_t scale = 1);

  // Nodes with a place, as links see them.
  struct Placed {
    Traffic traffic = Traffic::kRing;
    std::vector<std::int64_t> below;  // by vertex of the tree
    std::int64_t total = 0;
  };
  // `counts`: placed nodes by slot.
  Placed placed(Traffic traffic, const std::vector<int>& counts) const;

  struct Answer {
    std::vector<int> counts;  // by slot
    std::int64_t cost = 0;    // of all links (a ring's link is crossed twice), and the prices
  };
  // std::nullopt: no room. O(wanted * sum of min(high, wanted)) steps.
  std::optional<Answer> solve(const Placed& placed, int wanted, const std::vector<LeafRoom>& rooms);

  // What links cost with these counts taken, without prices.
  std::int64_t cost(const Placed& placed, const std::vector<int>& counts) const;

  // By slot: what links cost with one more node there. There must be placed nodes, and a ring.
  std::vector<std::int64_t> touch_costs(const Placed& placed) const;

  // The switches above the leaves, parents before children; the root is vertex 0.
  struct Vertex {
    int parent;
    int slot;  // -1: not a leaf
    std::int64_t weight;
  };
  const std::vector<Vertex>& tree() const { return tree_; }
  std::size_t slots() const { return vertex_of_.size(); }
  int vertex_of(int slot) const { return vertex_of_[static_cast<std::size_t>(slot)]; }
  // What the link above a vertex costs when `taken` of `wanted` nodes are below it.
  std::int64_t link_cost(const Placed& placed, std::size_t vertex, std::int64_t taken,
                         std::int64_t wanted) const;
  // By vertex: the sum over the slots below it.
  std::vector<std::int64_t> sum_below(const std::vector<std::int64_t>& by_slot) const;
  // By slot: the sum over the vertices above it, its own included.
  std::vector<std::int64_t> sum_above(const std::vector<std::int64_t>& by_vertex) const;

 private:
  using Table = std::vector<std::int64_t>;

  void fill_leaf(Table& table, const LeafRoom& room, int wanted) const;
  void merge(std::size_t vertex, int wanted);
  std::vector<int> trace_back(int wanted);

  std::vector<Vertex> tree_;
  std::vector<int> vertex_of_;  // by slot
  std::vector<Table> best_;     // by vertex: cost of j below, with the link above
  std::vector<Table> before_;  // by vertex: its parent's table before the vertex was merged into it
  Table merged_;
};

}  // namespace acrf
