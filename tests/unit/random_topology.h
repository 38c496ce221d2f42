// SPDX-License-Identifier: GPL-2.0-or-later
// Small trees for property tests: switches of uneven depth, leaves of uneven size, any weights.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/topology.h"
#include "random.h"

namespace acrf {

struct TreeShape {
  int switches = 8, most_children = 3, most_nodes = 3, most_weight = 9;
};

// Grows from the root; a switch that gets no children is a leaf.
inline Topology random_topology(Random& random, const TreeShape& shape) {
  std::string tree, weights;
  std::vector<std::string> nodes;
  int made = 1;
  for (int next = 0; next < made; ++next) {
    const auto name = "s" + std::to_string(next);
    int children = random.below(shape.most_children + 1);
    if (next == 0 || children == 1) children = 2;
    if (made + children > shape.switches) children = 0;
    tree += "SwitchName=" + name;
    if (children) {
      tree +=
          " Switches=s[" + std::to_string(made) + "-" + std::to_string(made + children - 1) + "]";
      made += children;
    } else {
      std::string list;
      for (int i = random.below(shape.most_nodes); i >= 0; --i) {
        nodes.push_back("n" + std::to_string(nodes.size()));
        list += (list.empty() ? "" : ",") + nodes.back();
      }
      tree += " Nodes=" + list;
    }
    tree += "\n";
    weights +=
        "Switch=" + name + " Weight=" + std::to_string(1 + random.below(shape.most_weight)) + "\n";
  }
  auto topology = Topology::parse(tree, "topology.conf", nodes);
  EXPECT_TRUE(topology.ok()) << topology.error().sentence << "\n" << tree;
  const auto refined = topology->refine(weights, "acrf-topology.conf", nodes);
  EXPECT_TRUE(refined.ok()) << refined.error().sentence;
  return *topology;
}

// `count` different positions, in any order.
inline std::vector<int> random_positions(Random& random, const Topology& topology, int count) {
  std::vector<int> all;
  for (int position = 0; position < topology.node_count(); ++position) all.push_back(position);
  for (int i = 0; i < count; ++i) {
    const int j = i + random.below(topology.node_count() - i);
    std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(j)]);
  }
  all.resize(static_cast<std::size_t>(count));
  return all;
}

}  // namespace acrf
