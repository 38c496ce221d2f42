// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/tree_knapsack.h"

#include <algorithm>
#include <limits>

namespace acrf {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;

struct Table {
  std::vector<std::int64_t> cost;            // by nodes taken below the switch
  std::vector<std::vector<int>> from_child;  // [child][nodes taken so far] -> taken from it
};

class Knapsack {
 public:
  Knapsack(const Topology& topology, const std::vector<int>& free, int wanted, Traffic traffic)
      : topology_(topology),
        wanted_(wanted),
        traffic_(traffic),
        tables_(topology.switches().size()) {
    for (std::size_t i = 0; i < free.size(); ++i)
      tables_[static_cast<std::size_t>(topology.leaves()[i])].cost.assign(
          static_cast<std::size_t>(std::min(free[i], wanted)) + 1, 0);
  }

  std::optional<std::vector<LeafShare>> solve() {
    for (std::size_t v = topology_.switches().size(); v-- > 0;)
      if (!topology_.switches()[v].is_leaf()) join(v);
    if (static_cast<int>(tables_[0].cost.size()) <= wanted_) return std::nullopt;
    taken_.assign(topology_.switches().size(), 0);
    taken_[0] = wanted_;
    for (std::size_t v = 0; v < taken_.size(); ++v) hand_down(v);
    std::vector<LeafShare> shares;
    for (std::size_t i = 0; i < topology_.leaves().size(); ++i)
      if (const int count = taken_[static_cast<std::size_t>(topology_.leaves()[i])]; count > 0)
        shares.push_back({static_cast<int>(i), count});
    return shares;
  }

 private:
  void join(std::size_t v) {
    Table& table = tables_[v];
    table.cost = {0};
    for (const int child : topology_.switches()[v].children) {
      const auto& below = tables_[static_cast<std::size_t>(child)].cost;
      const auto weight = topology_.switches()[static_cast<std::size_t>(child)].weight;
      const std::size_t size =
          std::min(table.cost.size() + below.size() - 1, static_cast<std::size_t>(wanted_) + 1);
      std::vector<std::int64_t> joined(size, kNever);
      std::vector<int> from(size, 0);
      for (std::size_t here = 0; here < table.cost.size(); ++here)
        for (std::size_t k = 0; k < below.size() && here + k < size; ++k) {
          const auto cost =
              table.cost[here] + below[k] + weight * flows(traffic_, static_cast<int>(k), wanted_);
          if (cost >= joined[here + k]) continue;
          joined[here + k] = cost;
          from[here + k] = static_cast<int>(k);
        }
      table.cost = std::move(joined);
      table.from_child.push_back(std::move(from));
    }
  }

  void hand_down(std::size_t v) {
    const auto& children = topology_.switches()[v].children;
    int rest = taken_[v];
    for (std::size_t i = children.size(); i-- > 0;) {
      const int part = tables_[v].from_child[i][static_cast<std::size_t>(rest)];
      taken_[static_cast<std::size_t>(children[i])] = part;
      rest -= part;
    }
  }

  const Topology& topology_;
  int wanted_;
  Traffic traffic_;
  std::vector<Table> tables_;
  std::vector<int> taken_;
};

}  // namespace

std::optional<std::vector<LeafShare>> tree_knapsack(const Topology& topology,
                                                    const std::vector<int>& free, int wanted,
                                                    Traffic traffic) {
  return Knapsack(topology, free, wanted, traffic).solve();
}

}  // namespace acrf
