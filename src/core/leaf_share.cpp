// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/leaf_share.h"

#include <algorithm>
#include <utility>

namespace acrf {

std::int64_t flows(Traffic traffic, int k, int n) {
  if (k <= 0 || k >= n) return 0;
  return traffic == Traffic::kRing ? 1 : static_cast<std::int64_t>(k) * (n - k);
}

namespace {

// The switches on the way down to a leaf, each with the nodes that were counted below it. Shares
// come in the order of their leaves, so that what is below a switch comes in one piece.
class OpenSwitches {
 public:
  OpenSwitches(const Topology& topology, Traffic traffic, int nodes)
      : topology_(topology), traffic_(traffic), nodes_(nodes) {}

  void add(const LeafShare& share) {
    way_.clear();
    for (int at = topology_.leaves()[static_cast<std::size_t>(share.leaf)]; at > 0;
         at = topology_.switches()[static_cast<std::size_t>(at)].parent)
      way_.push_back(at);
    for (std::size_t depth = 0; depth < way_.size(); ++depth) {
      const int at = way_[way_.size() - 1 - depth];
      if (depth == open_.size()) open_.push_back({at, 0});
      if (open_[depth].first != at) close(depth, at);
      open_[depth].second += share.count;
    }
  }

  std::int64_t cost() {
    for (std::size_t depth = 0; depth < open_.size(); ++depth) close(depth, 0);
    return cost_;
  }

 private:
  void close(std::size_t depth, int next) {
    const auto [at, count] = open_[depth];
    cost_ +=
        topology_.switches()[static_cast<std::size_t>(at)].weight * flows(traffic_, count, nodes_);
    open_[depth] = {next, 0};
  }

  const Topology& topology_;
  Traffic traffic_;
  int nodes_;
  std::int64_t cost_ = 0;
  std::vector<int> way_;
  std::vector<std::pair<int, int>> open_;  // by depth: switch, nodes of the job
};

}  // namespace

std::int64_t share_cost(const Topology& topology, const std::vector<LeafShare>& shares,
                        Traffic traffic) {
  if (shares.size() <= 1) return 0;
  const auto before = [](const LeafShare& a, const LeafShare& b) { return a.leaf < b.leaf; };
  if (!std::is_sorted(shares.begin(), shares.end(), before)) {
    auto sorted = shares;
    std::sort(sorted.begin(), sorted.end(), before);
    return share_cost(topology, sorted, traffic);
  }
  int nodes = 0;
  for (const auto& share : shares) nodes += share.count;
  OpenSwitches open(topology, traffic, nodes);
  for (const auto& share : shares) open.add(share);
  return open.cost();
}

Footprint footprint(const Topology& topology, const std::vector<LeafShare>& shares) {
  std::vector<int> pods;
  for (const auto& share : shares)
    if (const int pod = topology.leaf(share.leaf).parent; pods.empty() || pods.back() != pod)
      pods.push_back(pod);
  std::sort(pods.begin(), pods.end());
  const auto distinct = std::unique(pods.begin(), pods.end()) - pods.begin();
  return {static_cast<int>(shares.size()), static_cast<int>(distinct)};
}

}  // namespace acrf
