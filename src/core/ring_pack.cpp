// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/ring_pack.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace acrf {
namespace {

constexpr std::int64_t kNoCost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kWidestTable = 1 << 14;  // costs that the exact table may span
constexpr std::int64_t kMostSteps = 300'000;    // of the exact table, a fraction of a millisecond

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

RingPack::RingPack(const Topology& topology) : topology_(topology) {
  const auto& switches = topology.switches();
  const std::size_t count = switches.size();
  pod_.assign(count, false);
  leaves_below_.assign(count, {std::numeric_limits<int>::max(), 0});
  leaf_index_.assign(count, -1);
  below_.assign(count, 0);
  reach_.resize(count);
  mark_.assign(count, 0);
  for (const auto& from : switches) weights_.push_back(from.weight);
  for (std::size_t i = 0; i < topology.leaves().size(); ++i) {
    const int number = static_cast<int>(i);
    leaf_index_[index(topology.leaves()[i])] = number;
    for (int at = topology.leaves()[i]; at >= 0; at = switches[index(at)].parent) {
      auto& [first, end] = leaves_below_[index(at)];
      first = std::min(first, number);
      end = std::max(end, number + 1);
    }
  }
  for (std::size_t v = 0; v < count; ++v) {
    const auto& children = switches[v].children;
    pod_[v] = !children.empty() && std::all_of(children.begin(), children.end(), [&](int child) {
      return switches[index(child)].is_leaf() && weight(child) == weight(children[0]);
    });
  }
  for (std::size_t v = 0; v < count; ++v)
    if (pod_[v]) pods_.push_back(static_cast<int>(v));
  least_leaf_weight_ = kNoCost;
  for (const int leaf : topology.leaves())
    least_leaf_weight_ = std::min(least_leaf_weight_, weight(leaf));
}

RingPack RingPack::by_leaves(const Topology& topology) {
  RingPack pack(topology);
  const std::int64_t heavy = static_cast<std::int64_t>(topology.switches().size()) + 1;
  for (std::size_t v = 0; v < pack.weights_.size(); ++v)
    pack.weights_[v] = topology.switches()[v].is_leaf() ? heavy : 1;
  for (std::size_t v = 0; v < pack.pod_.size(); ++v) {
    const auto& children = topology.switches()[v].children;
    pack.pod_[v] = !children.empty() && std::all_of(children.begin(), children.end(), [&](int c) {
      return topology.switches()[index(c)].is_leaf();
    });
  }
  pack.pods_.clear();
  for (std::size_t v = 0; v < pack.pod_.size(); ++v)
    if (pack.pod_[v]) pack.pods_.push_back(static_cast<int>(v));
  pack.least_leaf_weight_ = heavy;
  return pack;
}

int RingPack::free_at(int at) const { return (*free_)[index(leaf_index_[index(at)])]; }

void RingPack::sum_up(const std::vector<int>& free) {
  std::fill(below_.begin(), below_.end(), 0);
  for (std::size_t v = below_.size(); v-- > 0;) {
    if (leaf_index_[v] >= 0) below_[v] = free[index(leaf_index_[v])];
    if (const int parent = topology_.switches()[v].parent; parent >= 0)
      below_[index(parent)] += below_[v];
  }
}

// Of the leaves that hold all, the one that leaves least over; then the one in the fullest pod.
int RingPack::tightest_leaf() const {
  int best = -1;
  const auto fuller = [&](int a, int b) {
    const auto& switches = topology_.switches();
    const int pod_a = switches[index(a)].parent, pod_b = switches[index(b)].parent;
    return pod_a >= 0 && pod_b >= 0 && below(pod_a) < below(pod_b);
  };
  for (const int leaf : topology_.leaves()) {
    if (below(leaf) < wanted_) continue;
    if (best < 0 || below(leaf) < below(best) || (below(leaf) == below(best) && fuller(leaf, best)))
      best = leaf;
  }
  return best;
}

// Leaf indices with free nodes, most free first; equal ones by position.
void RingPack::sort_leaves(int first_leaf, int end_leaf, std::vector<int>& order) const {
  order.clear();
  for (int leaf = first_leaf; leaf < end_leaf; ++leaf)
    if ((*free_)[index(leaf)] > 0) order.push_back(leaf);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const int free_a = (*free_)[index(a)], free_b = (*free_)[index(b)];
    return free_a != free_b ? free_a > free_b : a < b;
  });
}

// The tightest first: a pod that can't be cheaper than one before it need not be looked at.
void RingPack::try_pods() {
  candidates_.clear();
  for (const int pod : pods_)
    if (below(pod) >= wanted_) candidates_.push_back(pod);
  std::sort(candidates_.begin(), candidates_.end(),
            [&](int a, int b) { return below(a) != below(b) ? below(a) < below(b) : a < b; });
  for (const int pod : candidates_) {
    const auto [first, end] = leaves_below_[index(pod)];
    const int largest = *std::max_element(free_->begin() + first, free_->begin() + end);
    const std::int64_t link = weight(topology_.leaves()[index(first)]);
    if (best_at_ >= 0 && (wanted_ + largest - 1) / largest * link >= best_.cost) continue;
    try_pod(pod);
  }
}

// Largest leaf first.
void RingPack::try_pod(int pod) {
  const auto [first, end] = leaves_below_[index(pod)];
  sort_leaves(first, end, order_);
  int rest = wanted_;
  std::size_t used = 0;
  while (rest > 0) rest -= (*free_)[index(order_[used++])];
  offer(pod, {order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(used)});
}

// Largest leaf first below a switch: no set of leaves that holds the job is smaller.
int RingPack::fewest_leaves(int at) {
  const auto [first, end] = leaves_below_[index(at)];
  std::fill(histogram_.begin(), histogram_.end(), 0);
  for (int leaf = first; leaf < end; ++leaf) {
    const auto free = index((*free_)[index(leaf)]);
    if (free >= histogram_.size()) histogram_.resize(free + 1);
    ++histogram_[free];
  }
  int rest = wanted_, leaves = 0;
  for (std::size_t size = histogram_.size(); size-- > 1 && rest > 0;) {
    const int per_leaf = static_cast<int>(size);
    const int take = std::min(histogram_[size], (rest + per_leaf - 1) / per_leaf);
    leaves += take;
    rest -= take * per_leaf;
  }
  return leaves;
}

// What no answer that spans several children of `at` can go below.
std::int64_t RingPack::bound_for(int at) {
  const auto& children = topology_.switches()[index(at)].children;
  const std::int64_t in_leaves = fewest_leaves(at) * least_leaf_weight_;
  std::vector<int> sizes;
  std::int64_t lightest = kNoCost;
  for (const int child : children) {
    if (leaf_index_[index(child)] >= 0) return in_leaves;
    if (below(child) > 0) sizes.push_back(below(child));
    lightest = std::min(lightest, weight(child));
  }
  std::sort(sizes.rbegin(), sizes.rend());
  std::size_t fewest = 0;
  for (int rest = wanted_; rest > 0 && fewest < sizes.size(); ++fewest) rest -= sizes[fewest];
  return in_leaves + lightest * static_cast<std::int64_t>(std::max<std::size_t>(fewest, 2));
}

// The job below a few children only, largest leaf first among all their leaves.
void RingPack::try_children(int at, const std::vector<int>& children) {
  order_.clear();
  std::vector<int> part;
  for (const int child : children) {
    const auto [first, end] = leaves_below_[index(child)];
    sort_leaves(first, end, part);
    order_.insert(order_.end(), part.begin(), part.end());
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [&](int a, int b) { return (*free_)[index(a)] > (*free_)[index(b)]; });
  int rest = wanted_;
  std::size_t used = 0;
  while (rest > 0 && used < order_.size()) rest -= (*free_)[index(order_[used++])];
  if (rest <= 0) offer(at, {order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(used)});
}

void RingPack::try_above(int at) {
  const std::int64_t bound = bound_for(at);
  if (best_at_ >= 0 && best_.cost <= bound) return;  // the certificate
  std::vector<int> children;
  for (const int child : topology_.switches()[index(at)].children)
    if (below(child) > 0) children.push_back(child);
  std::stable_sort(children.begin(), children.end(),
                   [&](int a, int b) { return below(a) > below(b); });
  std::size_t fewest = 0;
  int rest = wanted_;
  while (rest > 0) rest -= below(children[fewest++]);
  std::vector<int> chosen(children.begin(), children.begin() + static_cast<std::ptrdiff_t>(fewest));
  // The last child is the tightest that holds the remainder.
  const int remainder = rest + below(chosen.back());
  for (std::size_t i = fewest; i < children.size() && below(children[i]) >= remainder; ++i)
    chosen.back() = children[i];
  try_children(at, chosen);
  if (best_.cost > bound) {
    chosen.back() = children[fewest - 1];
    try_children(at, chosen);
  }
  if (best_.cost > bound) try_exactly(at);
}

// Fills reach_[at].most for costs below `limit`. False when that would take too long.
bool RingPack::reach(int at, std::int64_t limit) {
  Reach& here = reach_[index(at)];
  here.spent_on.clear();
  if (leaf_index_[index(at)] >= 0) {
    here.most.assign(1, std::min(free_at(at), wanted_));
    return true;
  }
  if (is_pod(at)) {
    reach_pod(at, limit);
    return true;
  }
  here.most.assign(1, 0);
  for (const int child : topology_.switches()[index(at)].children) {
    here.spent_on.emplace_back();
    const std::int64_t link = weight(child);
    if (below(child) == 0 || link >= limit) continue;
    if (!reach(child, limit - link)) return false;
    const auto& most = reach_[index(child)].most;
    const auto width = static_cast<std::size_t>(std::min<std::int64_t>(
        limit, static_cast<std::int64_t>(here.most.size() + most.size()) + link));
    std::vector<int> joined(width), spent(width, 0);
    for (std::size_t c = 0; c < width; ++c)
      joined[c] = here.most[std::min(c, here.most.size() - 1)];
    for (std::size_t k = 0; k < most.size(); ++k) {
      if (most[k] == 0 || (k > 0 && most[k] == most[k - 1])) continue;
      const std::size_t price = k + static_cast<std::size_t>(link);
      steps_left_ -= static_cast<std::int64_t>(width);
      for (std::size_t c = price; c < width; ++c) {
        const int total =
            std::min(wanted_, here.most[std::min(c - price, here.most.size() - 1)] + most[k]);
        if (total <= joined[c]) continue;
        joined[c] = total;
        spent[c] = static_cast<int>(price);
      }
    }
    if (steps_left_ < 0) return false;
    here.most = std::move(joined);
    here.spent_on.back() = std::move(spent);
  }
  return true;
}

void RingPack::reach_pod(int at, std::int64_t limit) {
  Reach& here = reach_[index(at)];
  const auto [first, end] = leaves_below_[index(at)];
  sort_leaves(first, end, order_);
  here.most.assign(1, 0);
  const auto link = static_cast<std::size_t>(weight(topology_.leaves()[index(first)]));
  for (const int leaf : order_) {
    const std::size_t next = here.most.size() - 1 + link;
    if (static_cast<std::int64_t>(next) >= limit || here.most.back() >= wanted_) break;
    here.most.resize(next, here.most.back());
    here.most.push_back(std::min(wanted_, here.most.back() + (*free_)[index(leaf)]));
  }
}

void RingPack::collect(int at, std::int64_t cost, std::vector<int>& leaves) {
  const Reach& here = reach_[index(at)];
  if (const int leaf = leaf_index_[index(at)]; leaf >= 0) {
    leaves.push_back(leaf);
    return;
  }
  if (is_pod(at)) {
    std::vector<int> order;
    const auto [first, end] = leaves_below_[index(at)];
    sort_leaves(first, end, order);
    const auto used = cost / weight(topology_.leaves()[index(first)]);
    leaves.insert(leaves.end(), order.begin(), order.begin() + used);
    return;
  }
  const auto& children = topology_.switches()[index(at)].children;
  for (std::size_t i = children.size(); i-- > 0;) {
    const auto& spent = here.spent_on[i];
    if (spent.empty()) continue;
    const auto c = std::min(static_cast<std::size_t>(cost), spent.size() - 1);
    if (spent[c] == 0) continue;
    collect(children[i], spent[c] - weight(children[i]), leaves);
    cost = static_cast<std::int64_t>(c) - spent[c];
  }
}

void RingPack::try_exactly(int at) {
  const std::int64_t limit = best_.cost;
  steps_left_ = kMostSteps;
  if (limit > kWidestTable || !reach(at, limit)) {
    proven_ = false;
    bound_ = bound_ ? std::min(bound_, bound_for(at)) : bound_for(at);
    return;
  }
  const auto& most = reach_[index(at)].most;
  const auto enough = std::lower_bound(most.begin(), most.end(), wanted_);
  if (enough == most.end()) return;  // what we have is the least
  std::vector<int> leaves;
  collect(at, enough - most.begin(), leaves);
  std::stable_sort(leaves.begin(), leaves.end(),
                   [&](int a, int b) { return (*free_)[index(a)] > (*free_)[index(b)]; });
  offer(at, std::move(leaves));
}

// Weights of the touched links below the switches that hold the whole job.
std::int64_t RingPack::cost_of(const std::vector<int>& leaves) {
  int nodes = 0;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const int take = std::min((*free_)[index(leaves[i])], wanted_ - nodes);
    nodes += take;
    for (int at = topology_.leaves()[index(leaves[i])]; at > 0;
         at = topology_.switches()[index(at)].parent)
      mark_[index(at)] += take;
  }
  std::int64_t cost = 0;
  for (const int leaf : leaves)
    for (int at = topology_.leaves()[index(leaf)]; at > 0;
         at = topology_.switches()[index(at)].parent) {
      if (mark_[index(at)] > 0 && mark_[index(at)] < wanted_) cost += weight(at);
      mark_[index(at)] = 0;
    }
  return cost;
}

void RingPack::offer(int at, std::vector<int> leaves) {
  const std::int64_t cost = cost_of(leaves);
  const bool better =
      best_at_ < 0 || cost < best_.cost || (cost == best_.cost && below(at) < below(best_at_));
  const std::int64_t other = better ? (best_at_ < 0 || best_at_ == at ? -1 : best_.cost) : cost;
  if (other >= 0 && (runner_up_ < 0 || other < runner_up_)) runner_up_ = other;
  if (!better) return;
  best_at_ = at;
  best_ = {cost, std::move(leaves)};
}

void RingPack::finish(PackAnswer& answer) {
  answer.shares.clear();
  int rest = wanted_;
  for (std::size_t i = 0; i + 1 < best_.leaves.size(); ++i) {
    const int leaf = best_.leaves[i];
    answer.shares.push_back({leaf, (*free_)[index(leaf)]});
    rest -= (*free_)[index(leaf)];
  }
  int last = best_.leaves.back();
  const int parent = topology_.leaf(last).parent;
  if (parent >= 0) {
    for (const int child : topology_.switches()[index(parent)].children) {
      const int leaf = leaf_index_[index(child)];
      if (leaf < 0 || weight(child) != weight(topology_.leaves()[index(last)])) continue;
      const int free = (*free_)[index(leaf)];
      const bool used =
          std::find(best_.leaves.begin(), best_.leaves.end(), leaf) != best_.leaves.end();
      if (!used && free >= rest && free < (*free_)[index(last)]) last = leaf;
    }
  }
  answer.shares.push_back({last, rest});
  answer.cost = best_.cost;
  answer.certified = proven_;
  answer.lower_bound = proven_ ? best_.cost : std::min(bound_, best_.cost);
  answer.runner_up = runner_up_;
}

bool RingPack::solve(const std::vector<int>& free, int wanted, PackAnswer& answer) {
  wanted_ = wanted;
  free_ = &free;
  proven_ = true;
  bound_ = 0;
  best_at_ = -1;
  best_ = {};
  runner_up_ = -1;
  sum_up(free);
  if (wanted <= 0 || below(0) < wanted) return false;
  if (const int leaf = tightest_leaf(); leaf >= 0) {
    answer = {{{leaf_index_[index(leaf)], wanted}}, 0, true, 0, -1};
    return true;
  }
  try_pods();
  const int count = static_cast<int>(topology_.switches().size());
  for (int v = count - 1; v >= 0; --v)
    if (!is_pod(v) && leaf_index_[index(v)] < 0 && below(v) >= wanted) try_above(v);
  finish(answer);
  return true;
}

}  // namespace acrf
