// SPDX-License-Identifier: GPL-2.0-or-later
// Small random clusters for property tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/topology.h"
#include "random.h"

namespace acrf {

struct RandomTree {
  Topology topology = Topology::flat(0);
  std::vector<int> free;  // by leaf index
  int total = 0;
};

// Up to `leaves` leaves of up to `size` nodes below up to three pods, with or without a level
// above the pods, and with equal or random weights.
inline RandomTree random_tree(Random& random, int leaves, int size, bool random_weights) {
  std::string text, names, weights;
  int nodes = 0;
  const int leaf_count = 2 + random.below(leaves - 1), pods = 1 + random.below(3);
  std::vector<std::string> pod_members(static_cast<std::size_t>(pods));
  for (int leaf = 0; leaf < leaf_count; ++leaf) {
    const int count = 1 + random.below(size);
    text += "SwitchName=leaf" + std::to_string(leaf) + " Nodes=n[" + std::to_string(nodes) + "-" +
            std::to_string(nodes + count - 1) + "]\n";
    nodes += count;
    auto& members = pod_members[static_cast<std::size_t>(random.below(pods))];
    members += (members.empty() ? "" : ",") + ("leaf" + std::to_string(leaf));
    weights += "Switch=leaf" + std::to_string(leaf) +
               " Weight=" + std::to_string(1 + random.below(4)) + "\n";
  }
  std::string tops;
  for (int pod = 0; pod < pods; ++pod) {
    const auto& members = pod_members[static_cast<std::size_t>(pod)];
    if (members.empty()) continue;
    text += "SwitchName=pod" + std::to_string(pod) + " Switches=" + members + "\n";
    weights += "Switch=pod" + std::to_string(pod) +
               " Weight=" + std::to_string(1 + random.below(6)) + "\n";
    if (random.below(4) != 0) tops += (tops.empty() ? "" : ",") + ("pod" + std::to_string(pod));
  }
  if (!tops.empty() && random.below(2) == 0) text += "SwitchName=core Switches=" + tops + "\n";
  std::vector<std::string> node_names;
  for (int i = 0; i < nodes; ++i) node_names.push_back("n" + std::to_string(i));
  RandomTree tree;
  tree.topology = *Topology::parse(text, "topology.conf", node_names);
  if (random_weights) {
    EXPECT_TRUE(tree.topology.refine(weights, "acrf-topology.conf", node_names));
  }
  for (std::size_t i = 0; i < tree.topology.leaves().size(); ++i) {
    const auto& leaf = tree.topology.leaf(static_cast<int>(i));
    tree.free.push_back(random.below(leaf.end - leaf.first + 1));
    tree.total += tree.free.back();
  }
  return tree;
}

}  // namespace acrf
