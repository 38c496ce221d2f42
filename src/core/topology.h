// SPDX-License-Identifier: GPL-2.0-or-later
// The cluster's network as a tree: switches (or blocks) over nodes. Nodes get positions in
// depth-first order, so that the nodes below any switch are one range of positions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace acrf {

struct Switch {
  std::string name;
  int parent = -1;            // -1: the root, which is always switch 0
  std::vector<int> children;  // empty: a leaf, which holds nodes
  int first = 0, end = 0;     // positions of the nodes below
  std::int64_t weight = 1;    // cost of the link above, per flow: 1/bandwidth
  bool rails = false;         // GPU k of every node below hangs on rail k
  bool real = true;           // false: only joins what no switch of the site joins
  bool is_leaf() const { return children.empty(); }
};

class Topology {
 public:
  // All nodes on one switch.
  static Topology flat(int nodes);

  // Slurm's topology.conf, tree (SwitchName) or block (BlockName). `nodes`: the cluster's node
  // table. Nodes that no switch names share a leaf of their own. An Error opens with
  // "origin:line:".
  static Result<Topology> parse(std::string_view text, std::string_view origin,
                                const std::vector<std::string>& nodes);

  // Every node that a topology.conf names.
  static Result<std::vector<std::string>> nodes_named_in(std::string_view text,
                                                         std::string_view origin);

  // acrf-topology.conf: link weights (Switch=, Level=), NVLink domains that span nodes (Domain=)
  // and rails. Changes nothing when it returns an Error.
  Status refine(std::string_view text, std::string_view origin,
                const std::vector<std::string>& nodes);

  int node_count() const { return static_cast<int>(node_at_.size()); }
  // Parents come before their children.
  const std::vector<Switch>& switches() const { return switches_; }
  const std::vector<int>& leaves() const { return leaves_; }  // switch numbers, by position
  int position_of(int node) const { return position_of_[static_cast<std::size_t>(node)]; }
  int node_at(int position) const { return node_at_[static_cast<std::size_t>(position)]; }
  // Index into leaves() of the leaf that holds the position.
  int leaf_of(int position) const { return leaf_of_[static_cast<std::size_t>(position)]; }
  const Switch& leaf(int index) const {
    return switches_[static_cast<std::size_t>(leaves_[static_cast<std::size_t>(index)])];
  }
  // Sum of the weights of the links between the leaves of two positions.
  std::int64_t distance(int a, int b) const;
  // A switch of the site is above both positions.
  bool are_joined(int a, int b) const;
  // True when positions are the node table's own order.
  bool is_identity() const { return identity_; }

 private:
  friend class TopologyBuilder;
  std::vector<Switch> switches_;
  std::vector<int> leaves_, position_of_, node_at_, leaf_of_;
  bool identity_ = true;
};

}  // namespace acrf
