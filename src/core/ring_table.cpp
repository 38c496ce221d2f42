// SPDX-License-Identifier: GPL-2.0-or-later
// RingPack's exact table: the most nodes below a switch for a cost, from its children's.
#include <algorithm>

#include "core/ring_pack.h"

namespace acrf {
namespace {

constexpr std::int64_t kWidestTable = 1 << 14;  // costs that it may span
constexpr std::int64_t kMostSteps = 300'000;    // a fraction of a millisecond

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

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
  const auto range = leaves_below_[index(at)];
  sort_leaves({range}, order_);
  here.most.assign(1, 0);
  const auto link = static_cast<std::size_t>(weight(leaf_switch(range.first)));
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
    const auto range = leaves_below_[index(at)];
    sort_leaves({range}, order);
    const auto used = cost / weight(leaf_switch(range.first));
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
  std::sort(leaves.begin(), leaves.end());
  const auto smallest = std::min_element(leaves.begin(), leaves.end(), [&](int a, int b) {
    return (*free_)[index(a)] < (*free_)[index(b)];
  });
  offer(at, leaves, *smallest);
}

}  // namespace acrf
