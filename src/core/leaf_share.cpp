// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/leaf_share.h"

#include <algorithm>
#include <utility>

namespace acrf {

std::int64_t flows(Traffic traffic, int k, int n) {
  if (k <= 0 || k >= n) return 0;
  return traffic == Traffic::kRing ? 1 : static_cast<std::int64_t>(k) * (n - k);
}

std::int64_t share_cost(const Topology& topology, const std::vector<LeafShare>& shares,
                        Traffic traffic) {
  const auto& switches = topology.switches();
  std::vector<std::pair<int, int>> below;  // switch, nodes of the job
  int nodes = 0;
  for (const auto& share : shares) {
    nodes += share.count;
    for (int at = topology.leaves()[static_cast<std::size_t>(share.leaf)]; at > 0;
         at = switches[static_cast<std::size_t>(at)].parent)
      below.emplace_back(at, share.count);
  }
  if (shares.size() <= 1) return 0;
  std::sort(below.begin(), below.end());
  std::int64_t cost = 0;
  for (std::size_t i = 0; i < below.size();) {
    const int at = below[i].first;
    int count = 0;
    for (; i < below.size() && below[i].first == at; ++i) count += below[i].second;
    cost += switches[static_cast<std::size_t>(at)].weight * flows(traffic, count, nodes);
  }
  return cost;
}

Footprint footprint(const Topology& topology, const std::vector<LeafShare>& shares) {
  std::vector<int> pods;
  for (const auto& share : shares) pods.push_back(topology.leaf(share.leaf).parent);
  std::sort(pods.begin(), pods.end());
  const auto distinct = std::unique(pods.begin(), pods.end()) - pods.begin();
  return {static_cast<int>(shares.size()), static_cast<int>(distinct)};
}

}  // namespace acrf
