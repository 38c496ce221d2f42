// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/tree_fill.h"

#include <algorithm>

namespace acrf {

namespace {

constexpr std::int64_t kNoWay = INT64_MAX / 4;
// Prices may be negative: what cannot be stays recognisable after any sum.
bool is_way(std::int64_t cost) { return cost < kNoWay / 2; }

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

TreeFill::TreeFill(const Topology& topology, const std::vector<int>& leaves, std::int64_t scale) {
  const auto& switches = topology.switches();
  std::vector<int> vertex_of(switches.size(), -1);
  constexpr int kWanted = -2;
  vertex_of[0] = kWanted;
  for (const int leaf : leaves)
    for (int up = topology.leaves()[at(leaf)]; up >= 0 && vertex_of[at(up)] == -1;
         up = switches[at(up)].parent)
      vertex_of[at(up)] = kWanted;
  for (std::size_t i = 0; i < switches.size(); ++i) {
    if (vertex_of[i] != kWanted) continue;
    vertex_of[i] = static_cast<int>(tree_.size());
    const int parent = i ? vertex_of[at(switches[i].parent)] : -1;
    tree_.push_back({parent, -1, switches[i].weight * scale});
  }
  for (std::size_t slot = 0; slot < leaves.size(); ++slot) {
    vertex_of_.push_back(vertex_of[at(topology.leaves()[at(leaves[slot])])]);
    tree_[at(vertex_of_.back())].slot = static_cast<int>(slot);
  }
  best_.resize(tree_.size());
  before_.resize(tree_.size());
}

std::vector<std::int64_t> TreeFill::sum_below(const std::vector<std::int64_t>& by_slot) const {
  std::vector<std::int64_t> sum(tree_.size());
  for (std::size_t vertex = tree_.size(); vertex-- > 0;) {
    if (tree_[vertex].slot >= 0) sum[vertex] = by_slot[at(tree_[vertex].slot)];
    if (vertex) sum[at(tree_[vertex].parent)] += sum[vertex];
  }
  return sum;
}

std::vector<std::int64_t> TreeFill::sum_above(const std::vector<std::int64_t>& by_vertex) const {
  std::vector<std::int64_t> sum(by_vertex), by_slot(slots());
  for (std::size_t vertex = 0; vertex < tree_.size(); ++vertex) {
    if (vertex) sum[vertex] += sum[at(tree_[vertex].parent)];
    if (tree_[vertex].slot >= 0) by_slot[at(tree_[vertex].slot)] = sum[vertex];
  }
  return by_slot;
}

TreeFill::Placed TreeFill::placed(Traffic traffic, const std::vector<int>& counts) const {
  Placed placed{traffic, sum_below({counts.begin(), counts.end()}), 0};
  placed.total = placed.below[0];
  return placed;
}

std::int64_t TreeFill::link_cost(const Placed& placed, std::size_t vertex, std::int64_t taken,
                                 std::int64_t wanted) const {
  const std::int64_t inside = placed.below[vertex] + taken;
  const std::int64_t outside = placed.total + wanted - inside;
  if (placed.traffic == Traffic::kAllToAll) return tree_[vertex].weight * inside * outside;
  return inside && outside ? 2 * tree_[vertex].weight : 0;
}

void TreeFill::fill_leaf(Table& table, const LeafRoom& room, int wanted) const {
  table.assign(at(std::min(room.high, wanted)) + 1, kNoWay);
  for (std::size_t j = at(room.low); j < table.size(); ++j)
    table[j] = static_cast<std::int64_t>(j) * room.price;
}

// Adds the vertex's table to its parent's.
void TreeFill::merge(std::size_t vertex, int wanted) {
  const auto& own = best_[vertex];
  auto& parent = best_[at(tree_[vertex].parent)];
  merged_.assign(std::min(parent.size() + own.size() - 1, at(wanted) + 1), kNoWay);
  for (std::size_t i = 0; i < parent.size(); ++i) {
    if (!is_way(parent[i])) continue;
    const std::size_t end = std::min(own.size(), merged_.size() - i);
    for (std::size_t j = 0; j < end; ++j)
      if (is_way(own[j])) merged_[i + j] = std::min(merged_[i + j], parent[i] + own[j]);
  }
  before_[vertex].swap(parent);
  parent.swap(merged_);
}

std::optional<TreeFill::Answer> TreeFill::solve(const Placed& placed, int wanted,
                                                const std::vector<LeafRoom>& rooms) {
  for (std::size_t vertex = 0; vertex < tree_.size(); ++vertex) {
    if (tree_[vertex].slot < 0)
      best_[vertex].assign(1, 0);
    else
      fill_leaf(best_[vertex], rooms[at(tree_[vertex].slot)], wanted);
  }
  for (std::size_t vertex = tree_.size(); vertex-- > 1;) {
    for (std::size_t j = 0; j < best_[vertex].size(); ++j)
      best_[vertex][j] += link_cost(placed, vertex, static_cast<int>(j), wanted);
    merge(vertex, wanted);
  }
  if (best_[0].size() <= at(wanted) || !is_way(best_[0].back())) return std::nullopt;
  const std::int64_t cost = best_[0].back();
  return Answer{trace_back(wanted), cost};
}

// The way that leads to the root's last entry: parents know their count before their children ask.
std::vector<int> TreeFill::trace_back(int wanted) {
  std::vector<int> counts(slots()), left(tree_.size());
  left[0] = wanted;
  if (tree_[0].slot >= 0) counts[at(tree_[0].slot)] = wanted;
  for (std::size_t vertex = 1; vertex < tree_.size(); ++vertex) {
    int& above = left[at(tree_[vertex].parent)];
    const auto &own = best_[vertex], &rest = before_[vertex];
    int taken = -1;
    std::int64_t least = kNoWay;
    for (int j = std::max(0, above - static_cast<int>(rest.size()) + 1);
         j <= above && at(j) < own.size(); ++j) {
      const std::int64_t sum = own[at(j)] + rest[at(above - j)];
      if (taken >= 0 && sum >= least) continue;
      taken = j;
      least = sum;
    }
    left[vertex] = taken;
    above -= taken;
    if (tree_[vertex].slot >= 0) counts[at(tree_[vertex].slot)] = taken;
  }
  return counts;
}

// Links between the placed nodes are paid anyway. A node elsewhere adds the links down to it, and
// those above the switches that held all placed nodes so far.
std::vector<std::int64_t> TreeFill::touch_costs(const Placed& placed) const {
  std::vector<std::int64_t> steps(tree_.size());
  for (std::size_t vertex = 1; vertex < tree_.size(); ++vertex) {
    if (placed.below[vertex] > 0) steps[0] += 2 * tree_[vertex].weight;
    if (placed.below[vertex] == 0) steps[vertex] += 2 * tree_[vertex].weight;
    if (placed.below[vertex] == placed.total) steps[vertex] -= 2 * tree_[vertex].weight;
  }
  return sum_above(steps);
}

std::int64_t TreeFill::cost(const Placed& placed_before, const std::vector<int>& counts) const {
  const auto taken = placed(placed_before.traffic, counts);
  std::int64_t sum = 0;
  for (std::size_t vertex = 1; vertex < tree_.size(); ++vertex)
    sum += link_cost(placed_before, vertex, taken.below[vertex], taken.total);
  return sum;
}

}  // namespace acrf
