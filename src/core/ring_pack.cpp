// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/ring_pack.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace acrf {
namespace {

constexpr std::int64_t kNoCost = std::numeric_limits<std::int64_t>::max();

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

RingPack::RingPack(const Topology& topology) : topology_(topology) {
  const auto& switches = topology.switches();
  const std::size_t count = switches.size();
  leaves_below_.assign(count, {std::numeric_limits<int>::max(), 0});
  leaf_index_.assign(count, -1);
  below_.assign(count, 0);
  reach_.resize(count);
  mark_.assign(count, 0);
  sibling_.assign(count, 0);
  for (const auto& from : switches) {
    weights_.push_back(from.weight);
    parent_.push_back(from.parent);
    for (std::size_t i = 0; i < from.children.size(); ++i)
      sibling_[index(from.children[i])] = static_cast<int>(i);
  }
  for (std::size_t i = 0; i < topology.leaves().size(); ++i) {
    const int number = static_cast<int>(i);
    leaf_index_[index(topology.leaves()[i])] = number;
    for (int at = topology.leaves()[i]; at >= 0; at = parent_[index(at)]) {
      auto& [first, end] = leaves_below_[index(at)];
      first = std::min(first, number);
      end = std::max(end, number + 1);
    }
  }
  for (std::size_t v = 0; v < count; ++v)
    if (leaf_index_[v] < 0) inner_.push_back(static_cast<int>(v));
  note_pods(true);
}

RingPack RingPack::by_leaves(const Topology& topology) {
  RingPack pack(topology);
  const std::int64_t heavy = static_cast<std::int64_t>(topology.switches().size()) + 1;
  for (std::size_t v = 0; v < pack.weights_.size(); ++v)
    pack.weights_[v] = topology.switches()[v].is_leaf() ? heavy : 1;
  pack.note_pods(false);
  return pack;
}

// Which switches are pods, and which have pods alike below them.
void RingPack::note_pods(bool equal_weights) {
  const auto& switches = topology_.switches();
  const auto first_leaf = [&](int at) { return leaf_switch(leaves_below_[index(at)].first); };
  pod_.assign(switches.size(), false);
  alike_.assign(switches.size(), false);
  pods_.clear();
  for (const int v : inner_) {
    const auto& children = switches[index(v)].children;
    pod_[index(v)] = std::all_of(children.begin(), children.end(), [&](int child) {
      return is_leaf(child) && (!equal_weights || weight(child) == weight(children[0]));
    });
    if (pod_[index(v)]) pods_.push_back(v);
  }
  for (const int v : inner_) {
    const auto& children = switches[index(v)].children;
    alike_[index(v)] = std::all_of(children.begin(), children.end(), [&](int child) {
      return is_pod(child) && weight(child) == weight(children[0]) &&
             weight(first_leaf(child)) == weight(first_leaf(children[0]));
    });
  }
  least_leaf_weight_ = kNoCost;
  for (const int leaf : topology_.leaves())
    least_leaf_weight_ = std::min(least_leaf_weight_, weight(leaf));
}

void RingPack::sum_up(const std::vector<int>& free) {
  sums_.resize(free.size() + 1);
  int most = 0, sum = 0, *next = sums_.data();
  for (const int count : free) {
    *next++ = sum;
    sum += count;
    most = std::max(most, count);
  }
  *next = sum;
  most_free_ = most;
  for (const int v : inner_) {
    const auto [first, end] = leaves_below_[index(v)];
    below_[index(v)] = first < end ? sums_[index(end)] - sums_[index(first)] : 0;
  }
}

// Of the leaves that hold all, the one that leaves least over; then the one in the fullest pod.
int RingPack::tightest_leaf() const {
  if (most_free_ < wanted_) return -1;
  int best = -1, best_free = std::numeric_limits<int>::max(), best_pod = -1;
  const int count = static_cast<int>(free_->size());
  for (int leaf = 0; leaf < count; ++leaf) {
    const int free = (*free_)[index(leaf)];
    if (free < wanted_ || free > best_free) continue;
    const int pod = pod_of_leaf(leaf);
    if (free == best_free && (pod == best_pod || pod < 0 || below(pod) >= below(best_pod)))
      continue;
    best = leaf_switch(leaf);
    best_free = free;
    best_pod = pod;
  }
  return best;
}

// Leaf indices with free nodes, most free first; equal ones in the order of the ranges.
void RingPack::sort_leaves(const std::vector<LeafRange>& ranges, std::vector<int>& order) {
  starts_.assign(index(most_free_) + 1, 0);
  for (const auto& [first, end] : ranges)
    for (int leaf = first; leaf < end; ++leaf) ++starts_[index((*free_)[index(leaf)])];
  int at = 0;
  for (std::size_t size = starts_.size(); size-- > 1;) at += std::exchange(starts_[size], at);
  order.resize(index(at));
  for (const auto& [first, end] : ranges)
    for (int leaf = first; leaf < end; ++leaf)
      if (const int free = (*free_)[index(leaf)]) order[index(starts_[index(free)]++)] = leaf;
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
    const std::int64_t link = weight(leaf_switch(first));
    if (best_at_ >= 0 && (wanted_ + largest - 1) / largest * link >= best_.cost) continue;
    try_children(pod, {&pod, 1});
  }
}

// Largest leaf first below a switch: no set of leaves that holds the job is smaller.
int RingPack::fewest_leaves(int at) {
  if (counted_ == at) return pod_choice_.fewest_leaves(wanted_);
  const auto [first, end] = leaves_below_[index(at)];
  const std::span<const int> free{free_->data() + first, free_->data() + end};
  histogram_.assign(index(most_free_) + 1, 0);
  if (most_free_ <= kLargestCounted)
    count_sizes(free, histogram_);
  else
    for (const int size : free) ++histogram_[index(size)];
  return fill_largest(wanted_, most_free_, [&](int size) { return histogram_[index(size)]; })
      .leaves;
}

// The largest children of `at`, as many as it takes to hold the job.
void RingPack::take_largest_children(int at) {
  const auto& children = topology_.switches()[index(at)].children;
  others_.clear();
  largest_children_.clear();
  for (std::size_t i = 0; i < children.size(); ++i)
    if (below(children[i]) > 0)
      others_.push_back(static_cast<std::uint64_t>(below(children[i])) << 32 | ~i << 32 >> 32);
  std::make_heap(others_.begin(), others_.end());
  for (int rest = wanted_; rest > 0;) {
    std::pop_heap(others_.begin(), others_.end());
    largest_children_.push_back(children[~others_.back() & 0xffffffff]);
    rest -= static_cast<int>(others_.back() >> 32);
    others_.pop_back();
  }
}

// Of the other children the one that holds `rest` with least left over; -1: none.
int RingPack::tightest_child(int at, int rest) const {
  const auto& children = topology_.switches()[index(at)].children;
  auto best = std::numeric_limits<std::uint64_t>::max();
  for (const auto other : others_)
    if (static_cast<int>(other >> 32) >= rest) best = std::min(best, other);
  return best == std::numeric_limits<std::uint64_t>::max() ? -1 : children[~best & 0xffffffff];
}

// What no answer that spans several children of `at` can go below.
std::int64_t RingPack::bound_for(int at) {
  const std::int64_t in_leaves = fewest_leaves(at) * least_leaf_weight_;
  std::int64_t lightest = kNoCost;
  for (const int child : topology_.switches()[index(at)].children) {
    if (leaf_index_[index(child)] >= 0) return in_leaves;
    lightest = std::min(lightest, weight(child));
  }
  return in_leaves +
         lightest * static_cast<std::int64_t>(std::max<std::size_t>(largest_children_.size(), 2));
}

// The leaves below these children by size, in starts_.
void RingPack::count_leaves(std::span<const int> children) {
  starts_.assign(index(most_free_) + 1, 0);
  for (const int child : children) {
    if (counted_ >= 0 && counted_ == parent_[index(child)]) {
      pod_choice_.add_sizes(sibling_[index(child)], starts_);
      continue;
    }
    const auto [first, end] = leaves_below_[index(child)];
    for (int leaf = first; leaf < end; ++leaf) ++starts_[index((*free_)[index(leaf)])];
  }
}

// The job below a few children only, largest leaf first among all their leaves.
void RingPack::try_children(int at, std::span<const int> children) {
  count_leaves(children);
  ranges_.clear();
  for (const int child : children) ranges_.push_back(leaves_below_[index(child)]);
  const auto filled =
      fill_largest(wanted_, most_free_, [&](int size) { return starts_[index(size)]; });
  if (filled.leaves == 0) return;
  const int last = pick_leaves(filled);
  offer(at, leaves_, last);
}

// All leaves of ranges_ above the last one's size, and as many of that size as it takes, in the
// order of the ranges. They come to leaves_ in the order of the leaves; returns the last taken.
int RingPack::pick_leaves(Filled filled) {
  int of_last_size = filled.leaves, last = -1;
  for (int size = filled.last + 1; size <= most_free_; ++size) of_last_size -= starts_[index(size)];
  order_.resize(free_->size());
  std::size_t count = 0;
  for (auto& [first, end] : ranges_) {
    const std::size_t before = count;
    for (int leaf = first; leaf < end; ++leaf) {
      const int free = (*free_)[index(leaf)];
      const bool is_last = free == filled.last && of_last_size > 0;
      order_[count] = leaf;
      count += free > filled.last || is_last;
      of_last_size -= is_last;
      if (is_last) last = leaf;
    }
    first = static_cast<int>(before);  // from here on a range of order_
    end = static_cast<int>(count);
  }
  std::erase_if(ranges_, [](const LeafRange& range) { return range.first == range.second; });
  std::sort(ranges_.begin(), ranges_.end(), [&](const LeafRange& a, const LeafRange& b) {
    return order_[index(a.first)] < order_[index(b.first)];
  });
  leaves_.clear();
  for (const auto& [first, end] : ranges_)
    leaves_.insert(leaves_.end(), order_.begin() + first, order_.begin() + end);
  return last;
}

void RingPack::try_above(int at) {
  take_largest_children(at);
  const bool are_alike = count_pods(at);
  const std::int64_t bound = bound_for(at);
  if (best_at_ >= 0 && best_.cost <= bound) return;  // the certificate
  chosen_ = largest_children_;
  int remainder = wanted_;
  for (std::size_t i = 0; i + 1 < chosen_.size(); ++i) remainder -= below(chosen_[i]);
  if (const int last = tightest_child(at, remainder); last >= 0) chosen_.back() = last;
  try_children(at, chosen_);
  if (best_.cost <= bound) return;
  if (are_alike) return choose_pods(at);
  try_children(at, largest_children_);
  if (best_.cost > bound) try_exactly(at);
}

// Of pods that are alike, how many leaves they have of each size. False: these are not.
bool RingPack::count_pods(int at) {
  if (!alike_[index(at)] || most_free_ > PodChoice::kLargestLeaf) return false;
  ranges_.clear();
  for (const int child : topology_.switches()[index(at)].children)
    ranges_.push_back(leaves_below_[index(child)]);
  pod_choice_.load(ranges_, *free_, most_free_);
  counted_ = at;
  return true;
}

void RingPack::choose_pods(int at) {
  const auto& children = topology_.switches()[index(at)].children;
  const std::int64_t link = weight(leaf_switch(leaves_below_[index(children[0])].first));
  const auto answer = pod_choice_.cheapest(wanted_, {weight(children[0]), link}, best_.cost);
  chosen_.clear();
  for (const int pod : answer.pods) chosen_.push_back(children[index(pod)]);
  if (!chosen_.empty()) try_children(at, chosen_);
  if (answer.bound < best_.cost) {
    proven_ = false;
    bound_ = bound_ ? std::min(bound_, answer.bound) : answer.bound;
  }
}

void RingPack::mark_above(int at, int nodes) {
  for (; at > 0; at = parent_[index(at)]) {
    if (mark_[index(at)] == 0) marked_.push_back(at);
    mark_[index(at)] += nodes;
  }
}

// Weights of the touched links below the switches that hold the whole job.
std::int64_t RingPack::cost_of(const std::vector<int>& leaves, int last) {
  int given = 0, parent = -1, below_parent = 0;
  for (const int leaf : leaves) given += (*free_)[index(leaf)];
  std::int64_t cost = 0;
  marked_.clear();
  for (const int leaf : leaves) {
    const int at = leaf_switch(leaf), free = (*free_)[index(leaf)];
    const int take = leaf == last ? free - (given - wanted_) : free;
    if (take < wanted_) cost += weight(at);
    if (parent != parent_[index(at)]) {
      mark_above(parent, std::exchange(below_parent, 0));
      parent = parent_[index(at)];
    }
    below_parent += take;
  }
  mark_above(parent, below_parent);
  for (const int at : marked_)
    if (std::exchange(mark_[index(at)], 0) < wanted_) cost += weight(at);
  return cost;
}

void RingPack::offer(int at, const std::vector<int>& leaves, int last) {
  const std::int64_t cost = cost_of(leaves, last);
  const bool better =
      best_at_ < 0 || cost < best_.cost || (cost == best_.cost && below(at) < below(best_at_));
  const std::int64_t other = better ? (best_at_ < 0 || best_at_ == at ? -1 : best_.cost) : cost;
  if (other >= 0 && (runner_up_ < 0 || other < runner_up_)) runner_up_ = other;
  if (!better) return;
  best_at_ = at;
  best_.cost = cost;
  best_.leaves = leaves;
  best_.last = last;
}

// What the last leaf need not give is best taken from the tightest of its sisters.
int RingPack::tightest_sister(int last, int rest) {
  const int parent = pod_of_leaf(last);
  if (parent < 0) return last;
  for (const int leaf : best_.leaves) mark_[index(leaf_switch(leaf))] = 1;
  int best = last;
  for (const int child : topology_.switches()[index(parent)].children) {
    if (!is_leaf(child) || weight(child) != weight(leaf_switch(last)) || mark_[index(child)])
      continue;
    const int free = free_at(child);
    if (free >= rest && free < (*free_)[index(best)]) best = leaf_index_[index(child)];
  }
  for (const int leaf : best_.leaves) mark_[index(leaf_switch(leaf))] = 0;
  return best;
}

void RingPack::finish(PackAnswer& answer) {
  answer.shares.clear();
  int rest = wanted_;
  for (const int leaf : best_.leaves) {
    if (leaf == best_.last) continue;
    answer.shares.push_back({leaf, (*free_)[index(leaf)]});
    rest -= (*free_)[index(leaf)];
  }
  const LeafShare last{tightest_sister(best_.last, rest), rest};
  answer.shares.insert(
      std::upper_bound(answer.shares.begin(), answer.shares.end(), last,
                       [](const LeafShare& a, const LeafShare& b) { return a.leaf < b.leaf; }),
      last);
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
  runner_up_ = -1;
  counted_ = -1;
  sum_up(free);
  if (wanted <= 0 || below(0) < wanted) return false;
  if (const int leaf = tightest_leaf(); leaf >= 0) {
    answer = {{{leaf_index_[index(leaf)], wanted}}, 0, true, 0, -1};
    return true;
  }
  try_pods();
  for (auto v = inner_.rbegin(); v != inner_.rend(); ++v)
    if (!is_pod(*v) && below(*v) >= wanted) try_above(*v);
  finish(answer);
  return true;
}

}  // namespace acrf
