// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/layout.h"

namespace acrf::hub {
namespace {

std::string pod_of(const Topology& topology, int leaf) {
  const auto& switches = topology.switches();
  int child = topology.leaves()[static_cast<std::size_t>(leaf)];
  const int first = child;
  while (switches[static_cast<std::size_t>(child)].parent > 0)
    child = switches[static_cast<std::size_t>(child)].parent;
  // A leaf that hangs on the topmost switch, or is it.
  const auto& pod = switches[child == first ? 0 : static_cast<std::size_t>(child)];
  return pod.real && !(child == first && pod.is_leaf()) ? pod.name : "cluster";
}

}  // namespace

Layout layout_of(const Topology& topology, const std::vector<std::string>& names,
                 const std::vector<int>& gpus) {
  Layout layout;
  int last_leaf = -1;
  for (int position = 0; position < topology.node_count(); ++position) {
    const auto node = static_cast<std::size_t>(topology.node_at(position));
    const int leaf = topology.leaf_of(position);
    if (leaf != last_leaf) {
      const auto& holder = topology.leaf(leaf);
      const auto pod = pod_of(topology, leaf);
      if (layout.pods.empty() || layout.pods.back().name != pod)
        layout.pods.push_back({pod, static_cast<int>(layout.leaves.size()), 0});
      ++layout.pods.back().count;
      layout.leaves.push_back({holder.real && !holder.name.empty() ? holder.name : "all",
                               static_cast<int>(layout.names.size()), 0});
      last_leaf = leaf;
    }
    ++layout.leaves.back().count;
    layout.names.push_back(names[node]);
    layout.gpus.push_back(gpus[node]);
  }
  layout.index();
  return layout;
}

}  // namespace acrf::hub
