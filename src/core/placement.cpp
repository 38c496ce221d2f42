// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/placement.h"

#include <algorithm>
#include <bit>

namespace acrf {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

int divide_up(std::int64_t a, std::int64_t b) { return static_cast<int>((a + b - 1) / b); }

}  // namespace

Placement::Placement(const Topology& topology, const Inventory& inventory)
    : topology_(topology),
      inventory_(inventory),
      pack_(topology),
      block_(RingPack::by_leaves(topology)),
      free_(topology.leaves().size()),
      work_(topology.node_count()) {
  for (std::size_t i = 0; i < free_.size(); ++i) {
    const auto& leaf = topology.leaf(static_cast<int>(i));
    leaf_ranges_.emplace_back(leaf.first, leaf.end);
  }
}

bool Placement::place(const PlaceRequest& request, NodeSet& candidates, const NodeSet* required,
                      const NodeSet* avoid, Plan& plan) {
  request_ = request;
  required_ = required;
  avoid_ = avoid;
  nodes_ = &plan.nodes;
  taken_ = 0;
  shares_.clear();
  plan.clear_all_but_nodes();
  cost_ = 0;
  runner_up_ = -1;
  certified_ = false;
  avoidable_ = 0;
  if (request.whole_nodes && !request.ever) {
    candidates &= inventory_.untouched();
    candidates.subtract(inventory_.quarantined());
  }
  if (request.type != 0) {
    const auto* typed = inventory_.of_type(request.type);
    if (!typed) return false;
    candidates &= *typed;
  }
  const bool placed = request.gpus_per_node > 0 ? place_equal(request.gpus_per_node, candidates)
                                                : place_total(candidates);
  plan.nodes.resize(placed ? index(taken_) : 0);
  if (placed) describe(plan);
  return placed;
}

// --- Which nodes have room ---------------------------------------------------------------------

void Placement::keep_with_room(NodeSet& eligible, std::uint32_t cpus,
                               std::uint64_t memory_mb) const {
  const bool any_untouched_fits =
      cpus <= inventory_.least_cpus() && memory_mb <= inventory_.least_memory_mb();
  if (request_.ever && any_untouched_fits) return;
  auto& words = eligible.words();
  const auto& untouched = inventory_.untouched().words();
  for (std::size_t w = 0; w < words.size(); ++w) {
    std::uint64_t doubtful = any_untouched_fits ? words[w] & ~untouched[w] : words[w];
    for (; doubtful; doubtful &= doubtful - 1) {
      const int position = static_cast<int>(w * 64) + std::countr_zero(doubtful);
      const auto& node = inventory_.node(position);
      const bool room = request_.ever
                            ? node.cpus >= cpus && node.memory_mb >= memory_mb
                            : node.free_cpus >= cpus && node.free_memory_mb >= memory_mb &&
                                  (!request_.all_memory || node.free_memory_mb == node.memory_mb);
      if (!room) eligible.clear(position);
    }
  }
}

void Placement::keep_fitting(NodeSet& eligible, int gpus, int cpus) const {
  eligible &= request_.ever ? inventory_.with_gpus(gpus) : inventory_.with_free(gpus);
  keep_with_room(eligible, static_cast<std::uint32_t>(std::max(cpus, request_.cpus_per_node)),
                 request_.memory_per_node_mb);
}

// --- Tiers -------------------------------------------------------------------------------------

bool Placement::has_one_tier() const {
  return request_.ever || (!avoid_ && inventory_.all_sound() && !inventory_.has_weights());
}

void Placement::split_into_tiers(const NodeSet& eligible) {
  tiers_.clear();
  tiers_.push_back(eligible);
  if (has_one_tier()) return;
  const auto set_apart = [&](const NodeSet& worse) {
    NodeSet part = tiers_.front();
    part &= worse;
    if (part.count() == 0) return;
    tiers_.front().subtract(part);
    tiers_.insert(tiers_.begin() + 1, std::move(part));
  };
  if (avoid_) set_apart(*avoid_);
  if (!inventory_.all_sound()) {
    set_apart(inventory_.suspect());
    set_apart(inventory_.quarantined());
    NodeSet risky(eligible.size());
    inventory_.risky().each([&](int position) {
      if (inventory_.node(position).health.risk >= request_.risk_limit) risky.set(position);
      return true;
    });
    set_apart(risky);
    if (many_nodes_ || request_.risk_limit <= 100) set_apart(inventory_.on_probation());
  }
  if (inventory_.has_weights()) split_by_weight();
}

void Placement::split_by_weight() {
  std::vector<NodeSet> split;
  for (const auto& tier : tiers_) {
    std::vector<std::uint64_t> weights;
    tier.each([&](int position) {
      const auto weight = inventory_.node(position).weight;
      if (weights.empty() || std::find(weights.rbegin(), weights.rend(), weight) == weights.rend())
        weights.push_back(weight);
      return true;
    });
    std::sort(weights.begin(), weights.end());
    for (const auto weight : weights) {
      split.emplace_back(tier.size());
      tier.each([&](int position) {
        if (inventory_.node(position).weight == weight) split.back().set(position);
        return true;
      });
    }
  }
  tiers_ = std::move(split);
}

// --- Kinds of requests ---------------------------------------------------------------------------

bool Placement::place_equal(int gpus, NodeSet& eligible) {
  if (gpus > inventory_.most_gpus()) return false;
  const int most = std::max(request_.max_nodes, request_.min_nodes);
  keep_fitting(eligible, gpus, divide_up(request_.total_cpus, most));
  const int wanted = std::min(most, eligible.count());
  if (wanted < request_.min_nodes) return false;
  if (wanted < most) keep_fitting(eligible, gpus, divide_up(request_.total_cpus, wanted));
  many_nodes_ = wanted > 1;
  if (!choose(eligible, wanted, gpus)) return false;
  give_gpus(gpus);
  if (const GpuMask aligned = aligned_gpus(gpus))
    for (auto& node : taken()) node.gpus = aligned;
  return true;
}

// As many whole nodes as the total fills, and one node for the rest.
bool Placement::place_total(NodeSet& eligible) {
  const int total = request_.total_gpus, step = std::max(request_.gpu_step, 1);
  const int most = inventory_.most_gpus() / step * step;
  if (total <= 0 || most == 0) return false;
  const int full = total / most, rest = total % most, nodes = full + (rest > 0);
  if (nodes > request_.max_nodes) return false;
  if (nodes < request_.min_nodes) {
    const int each = total / request_.min_nodes;
    if (total % request_.min_nodes != 0 || each % step != 0) return false;
    request_.max_nodes = request_.min_nodes;
    return place_equal(each, eligible);
  }
  const auto cpus_for = [&](int gpus) {
    return divide_up(static_cast<std::int64_t>(request_.total_cpus) * gpus, total);
  };
  many_nodes_ = nodes > 1;
  const NodeSet all = eligible;
  keep_fitting(eligible, full > 0 ? most : rest, cpus_for(full > 0 ? most : rest));
  if (full == 0 || rest == 0) {
    const int each = full > 0 ? most : rest;
    if (eligible.count() < nodes || !choose(eligible, nodes, each)) return place_scattered(all);
    give_gpus(each);
    return true;
  }
  if (eligible.count() < full || !choose(eligible, full, most)) return place_scattered(all);
  give_gpus(most);
  NodeSet others = all;
  keep_fitting(others, rest, cpus_for(rest));
  for (const auto& node : taken()) others.clear(node.position);
  required_ = nullptr;
  split_into_tiers(others);
  for (const auto& tier : tiers_) {
    if (tier.count() == 0) continue;
    split_into_levels(tier, rest);
    join_base(tier, 1);
    taken().back().gpus = pick_gpus(taken().back().position, rest);
    return true;
  }
  return false;
}

// No node has enough: the smallest switch whose free GPUs add up, emptiest nodes first.
bool Placement::place_scattered(const NodeSet& eligible) {
  if (required_ || request_.ever) return false;
  const int step = std::max(request_.gpu_step, 1);
  NodeSet usable = eligible;
  keep_fitting(
      usable, step,
      divide_up(static_cast<std::int64_t>(request_.total_cpus) * step, request_.total_gpus));
  usable.subtract(inventory_.suspect());
  usable.subtract(inventory_.on_probation());
  if (avoid_) usable.subtract(*avoid_);
  const auto room = [&](int position) {
    return std::popcount(inventory_.node(position).healthy_free()) / step * step;
  };
  std::vector<int> below(topology_.switches().size());
  usable.each([&](int position) {
    below[index(topology_.leaves()[index(topology_.leaf_of(position))])] += room(position);
    return true;
  });
  int best = -1;
  for (std::size_t v = below.size(); v-- > 0;) {
    if (const int parent = topology_.switches()[v].parent; parent >= 0)
      below[index(parent)] += below[v];
    if (below[v] >= request_.total_gpus && (best < 0 || below[v] < below[index(best)]))
      best = static_cast<int>(v);
  }
  if (best < 0) return false;
  std::vector<int> order;
  const auto& home = topology_.switches()[index(best)];
  usable.each(home.first, home.end, [&](int position) {
    order.push_back(position);
    return true;
  });
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return room(a) > room(b); });
  int rest = request_.total_gpus;
  taken_ = 0;
  shares_hold_ = false;
  for (std::size_t i = 0; i < order.size() && rest > 0; ++i) {
    const int gpus = std::min(rest, room(order[i]));
    take(order[i]);
    taken().back().gpus = pick_gpus(order[i], gpus);
    rest -= gpus;
  }
  return rest == 0 && taken_ >= request_.min_nodes && taken_ <= request_.max_nodes;
}

// Where GPU k of every node hangs on rail k, the same GPUs on all nodes keep each flow on one rail:
// worth it when no node has to take a worse-linked group for it. 0: not so.
GpuMask Placement::aligned_gpus(int gpus) const {
  if (request_.ever || taken_ < 2 || gpus >= inventory_.most_gpus()) return 0;
  GpuMask common = ~GpuMask{0};
  const int kind = inventory_.node(taken().front().position).kind;
  for (const auto& [position, given] : taken()) {
    const auto& node = inventory_.node(position);
    if (!topology_.leaf(topology_.leaf_of(position)).rails || node.kind != kind) return 0;
    common &= node.healthy_free();
  }
  const auto& groups = inventory_.groups(kind);
  const GpuMask group = groups.best(common, gpus);
  for (const auto& [position, given] : taken())
    if (groups.weight_inside(group) < groups.weight_inside(pick_gpus(position, gpus))) return 0;
  return group;
}

GpuMask Placement::pick_gpus(int position, int gpus) const {
  if (request_.ever) return 0;
  return inventory_.groups(inventory_.node(position).kind)
      .best(inventory_.healthy_free(position), gpus);
}

// To every taken node its group.
void Placement::give_gpus(int gpus) {
  if (all_gpus_) return;  // it has
  // No node has more than it gives: no need to look at each.
  const bool all = gpus == inventory_.most_gpus() && gpus < Inventory::kMostGpus && !request_.ever;
  for (auto& node : taken())
    node.gpus = all ? inventory_.healthy_free(node.position) : pick_gpus(node.position, gpus);
}

// False: the nodes are not in order.
bool Placement::share_by_leaf(Plan& plan) const {
  plan.shares.clear();
  int end = 0, last = -1;
  for (const auto& node : plan.nodes) {
    if (node.position < last) return false;
    last = node.position;
    if (last >= end) {
      const int leaf = topology_.leaf_of(last);
      end = leaf_ranges_[index(leaf)].end;
      plan.shares.push_back({leaf, 0});
    }
    ++plan.shares.back().count;
  }
  return true;
}

void Placement::describe(Plan& plan) const {
  if (shares_hold_) {
    plan.shares = shares_;
  } else if (!share_by_leaf(plan)) {
    std::sort(plan.nodes.begin(), plan.nodes.end(),
              [](const PlannedNode& a, const PlannedNode& b) { return a.position < b.position; });
    (void)share_by_leaf(plan);
  }
  const auto touched = footprint(topology_, plan.shares);
  plan.leaves = touched.leaves;
  plan.pods = touched.pods;
  plan.cost = shares_hold_ && request_.shape == Shape::kPack
                  ? cost_
                  : share_cost(topology_, plan.shares, Traffic::kRing);
  plan.runner_up = runner_up_;
  plan.certified = certified_;
  plan.avoidable = avoidable_;
  plan.joined = topology_.are_joined(plan.nodes.front().position, plan.nodes.back().position);
}

}  // namespace acrf
