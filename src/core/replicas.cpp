// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/replicas.h"

#include <algorithm>
#include <limits>

namespace acrf {

void keep_apart(const Topology& topology, const NodeSet& candidates, const NodeSet& siblings,
                NodeSet& avoid) {
  int fewest = std::numeric_limits<int>::max();
  for (const int number : topology.leaves()) {
    const auto& leaf = topology.switches()[static_cast<std::size_t>(number)];
    if (candidates.count(leaf.first, leaf.end) > 0)
      fewest = std::min(fewest, siblings.count(leaf.first, leaf.end));
  }
  for (const int number : topology.leaves()) {
    const auto& leaf = topology.switches()[static_cast<std::size_t>(number)];
    if (siblings.count(leaf.first, leaf.end) <= fewest) continue;
    for (int position = leaf.first; position < leaf.end; ++position) avoid.set(position);
  }
  avoid |= siblings;
}

}  // namespace acrf
