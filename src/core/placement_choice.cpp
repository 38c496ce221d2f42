// SPDX-License-Identifier: GPL-2.0-or-later
// How Placement chooses nodes: tier by tier, and within a tier by the shape of the job.
#include <algorithm>
#include <array>

#include "core/placement.h"

namespace acrf {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

// Nodes of a better tier are all used before a worse one is touched.
bool Placement::choose(const NodeSet& eligible, int wanted, int gpus) {
  taken_ = 0;
  all_gpus_ = gpus == inventory_.most_gpus() && gpus < Inventory::kMostGpus && !request_.ever
                  ? inventory_.gpus_of_all()
                  : 0;
  shares_hold_ = false;
  avoidable_ = 0;
  const NodeSet* from = &eligible;
  if (required_) {
    bool all = true;
    required_->each([&](int position) {
      take(position);
      return all = eligible.test(position);
    });
    wanted -= taken_;
    if (!all || wanted < 0) return false;
    work_ = eligible;
    work_.subtract(*required_);
    from = &work_;
  }
  if (has_one_tier()) return wanted == 0 || fill_from(*from, wanted, gpus);
  split_into_tiers(*from);
  for (std::size_t i = 0; i < tiers_.size() && wanted > 0; ++i) {
    const int available = tiers_[i].count();
    if (available == 0) continue;
    const int take = std::min(available, wanted);
    if (!fill_from(tiers_[i], take, gpus)) return false;
    wanted -= take;
    if (i > 0) avoidable_ += take;
  }
  return wanted == 0;
}

bool Placement::fill_from(const NodeSet& tier, int wanted, int gpus) {
  split_into_levels(tier, gpus);
  if (taken_ > 0) {
    join_base(tier, wanted);
    return true;
  }
  if (wanted == 1 && gpus < inventory_.most_gpus() && !request_.ever) {
    certified_ = true;
    const int position = best_single(gpus);
    if (position >= 0) take(position);
    return position >= 0;
  }
  if (!share_out(tier, wanted)) return false;
  const auto before = [](const LeafShare& a, const LeafShare& b) { return a.leaf < b.leaf; };
  if (!std::is_sorted(shares_.begin(), shares_.end(), before))
    std::sort(shares_.begin(), shares_.end(), before);
  for (const auto& share : shares_) take_from_leaf(topology_.leaf(share.leaf), share.count);
  shares_hold_ = levels_.size() == 1;  // and the nodes are in order
  return true;
}

// Next to the nodes that are chosen already: same leaf first, then same pod, then the largest.
void Placement::join_base(const NodeSet& tier, int wanted) {
  certified_ = shares_hold_ = false;
  std::vector<int> near_leaf(free_.size()), near_pod(topology_.switches().size());
  const auto pod_of = [&](int leaf) { return std::max(topology_.leaf(leaf).parent, 0); };
  for (const auto& [position, given] : taken()) {
    ++near_leaf[index(topology_.leaf_of(position))];
    ++near_pod[index(pod_of(topology_.leaf_of(position)))];
  }
  tier.count(leaf_ranges_, free_);
  std::vector<std::array<int, 4>> leaves;  // the best is the largest
  for (int leaf = 0; leaf < static_cast<int>(free_.size()); ++leaf)
    if (free_[index(leaf)] > 0)
      leaves.push_back(
          {near_leaf[index(leaf)], near_pod[index(pod_of(leaf))], free_[index(leaf)], -leaf});
  std::make_heap(leaves.begin(), leaves.end());
  for (; wanted > 0 && !leaves.empty(); leaves.pop_back()) {
    std::pop_heap(leaves.begin(), leaves.end());
    const int leaf = -leaves.back()[3], part = std::min(wanted, free_[index(leaf)]);
    take_from_leaf(topology_.leaf(leaf), part);
    wanted -= part;
  }
}

bool Placement::share_out(const NodeSet& tier, int wanted) {
  tier.count(leaf_ranges_, free_);
  shares_.clear();
  if (request_.shape == Shape::kSpread) {
    spread(0, wanted);
    return true;
  }
  if (request_.shape == Shape::kAny) {
    fill_small_leaves(wanted);
    return true;
  }
  auto& solver = request_.shape == Shape::kBlock ? block_ : pack_;
  if (!solver.solve(free_, wanted, answer_)) return false;
  std::swap(shares_, answer_.shares);
  cost_ = answer_.cost;
  runner_up_ = answer_.runner_up;
  certified_ = answer_.certified;
  return true;
}

// As evenly over the children as their room allows, at every level: no failure domain holds more
// of the job than it must.
void Placement::spread(int at, int wanted) {
  const auto& here = topology_.switches()[index(at)];
  if (here.is_leaf()) {
    shares_.push_back({topology_.leaf_of(here.first), wanted});
    return;
  }
  std::vector<std::pair<int, int>> room;  // free, child
  for (const int child : here.children) {
    const auto& below = topology_.switches()[index(child)];
    int free = 0;
    if (below.first < below.end)
      for (int leaf = topology_.leaf_of(below.first); leaf <= topology_.leaf_of(below.end - 1);
           ++leaf)
        free += free_[index(leaf)];
    if (free > 0) room.emplace_back(free, child);
  }
  // Smallest first: what a small child cannot take is shared by the rest; of equal shares the
  // largest children get the odd nodes.
  std::stable_sort(room.begin(), room.end());
  for (std::size_t i = 0; i < room.size(); ++i) {
    const int part = std::min(room[i].first, wanted / static_cast<int>(room.size() - i));
    if (part > 0) spread(room[i].second, part);
    wanted -= part;
  }
}

void Placement::fill_small_leaves(int wanted) {
  std::vector<int> order;
  for (std::size_t i = 0; i < free_.size(); ++i)
    if (free_[i] > 0) order.push_back(static_cast<int>(i));
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return free_[index(a)] < free_[index(b)]; });
  for (std::size_t i = 0; i < order.size() && wanted > 0; ++i) {
    const int take = std::min(wanted, free_[index(order[i])]);
    shares_.push_back({order[i], take});
    wanted -= take;
  }
}

// By how many healthy GPUs are free, fewest first: the fullest nodes come first, so that whole
// nodes stay whole.
void Placement::split_into_levels(const NodeSet& tier, int gpus) {
  levels_.clear();
  const int most = std::max(inventory_.most_gpus(), gpus);
  if (request_.ever || gpus == most) return levels_.push_back(&tier);
  parts_.resize(index(most) + 1);
  for (int count = gpus; count <= most; ++count) {
    NodeSet& part = parts_[index(count)] = tier;
    part &= inventory_.with_free(count);
    if (count < most) part.subtract(inventory_.with_free(count + 1));
    if (!part.empty()) levels_.push_back(&part);
  }
}

// One node for part of its GPUs: the best-linked group, then the fullest node, then the leaf with
// the fewest whole nodes.
int Placement::best_single(int gpus) const {
  using Score = std::array<std::int64_t, 3>;  // the least wins
  const auto& whole = inventory_.with_free(inventory_.most_gpus());
  Score best{};
  int found = -1;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    for (const int number : topology_.leaves()) {
      const auto& leaf = topology_.switches()[index(number)];
      std::int64_t whole_nodes = -1;
      levels_[level]->each(leaf.first, leaf.end, [&](int position) {
        if (whole_nodes < 0) whole_nodes = whole.count(leaf.first, leaf.end);
        const auto& node = inventory_.node(position);
        const auto& groups = inventory_.groups(node.kind);
        const auto links =
            groups.is_uniform() ? 0 : groups.weight_inside(groups.best(node.healthy_free(), gpus));
        const Score score{-links, static_cast<std::int64_t>(level), whole_nodes};
        if (found < 0 || score < best) {
          best = score;
          found = position;
        }
        // Nodes that are alike need no second look.
        const bool alike = groups.is_uniform() || node.free == node.gpus;
        return !(alike && inventory_.has_one_kind());
      });
    }
    if (found >= 0 && inventory_.is_uniform()) break;
  }
  return found;
}

void Placement::take(int position) {
  if (nodes_->size() == index(taken_)) nodes_->emplace_back();
  (*nodes_)[index(taken_++)] = {position, all_gpus_};
}

void Placement::take_from_leaf(const Switch& leaf, int wanted) {
  if (nodes_->size() < index(taken_ + wanted)) nodes_->resize(index(taken_ + wanted));
  const GpuMask gpus = all_gpus_;
  for (const auto* level : levels_) {
    PlannedNode* next = nodes_->data() + taken_;
    const int count = level->each_of_first(leaf.first, leaf.end, wanted, [&](int position) {
      *next++ = {position, gpus};
    });
    taken_ += count;
    if ((wanted -= count) == 0) return;
  }
}

}  // namespace acrf
