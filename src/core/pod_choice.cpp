// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/pod_choice.h"

#include <algorithm>
#include <functional>

namespace acrf {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

void PodChoice::load(const std::vector<std::pair<int, int>>& pods, const std::vector<int>& free) {
  pods_ = static_cast<int>(pods.size());
  largest_ = 0;
  for (const auto& [first, end] : pods)
    for (int leaf = first; leaf < end; ++leaf) largest_ = std::max(largest_, free[index(leaf)]);
  const std::size_t width = index(largest_) + 1, count = pods.size();
  sizes_.assign(count * width, 0);
  gains_.resize(count * width);
  all_sizes_.assign(width, 0);
  beyond_.assign(count, 0);  // leaves that hold more than the price
  for (std::size_t pod = 0; pod < count; ++pod)
    for (const int* leaf = &free[index(pods[pod].first)]; leaf != free.data() + pods[pod].second;
         ++leaf)
      ++sizes_[index(*leaf) * count + pod];
  std::fill(gains_.end() - pods_, gains_.end(), 0);
  for (std::size_t size = width - 1; size > 0; --size) {
    const int *sizes = &sizes_[size * count], *gains = &gains_[size * count];
    int *lower = &gains_[(size - 1) * count], *beyond = beyond_.data(), all = 0;
    for (std::size_t pod = 0; pod < count; ++pod) {
      all += sizes[pod];
      lower[pod] = gains[pod] + (beyond[pod] += sizes[pod]);
    }
    all_sizes_[size] = all;
  }
  rankings_.resize(width);
  for (auto& ranking : rankings_) ranking.known = false;
}

const PodChoice::Ranking& PodChoice::ranking(int price) {
  Ranking& order = rankings_[index(price)];
  if (order.known) return order;
  order.known = true;
  keys_.resize(index(pods_));
  for (int pod = 0; pod < pods_; ++pod)  // equal gains: by their order
    keys_[index(pod)] =
        static_cast<std::uint64_t>(gain(pod, price)) << 32 | ~index(pod) << 32 >> 32;
  std::sort(keys_.begin(), keys_.end(), std::greater<>());
  order.pods.resize(keys_.size());
  order.sums.assign(keys_.size() + 1, 0);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    order.pods[i] = static_cast<int>(~keys_[i] & 0xffffffff);
    order.sums[i + 1] = order.sums[i] + static_cast<int>(keys_[i] >> 32);
  }
  return order;
}

// With all pods to choose from: the fewest leaves, and the size of the last one as a price.
PodChoice::Count PodChoice::count_of_all() const {
  int rest = wanted_, leaves = 0, size = largest_;
  for (;; --size) {
    const int take = std::min(all_sizes_[index(size)], (rest + size - 1) / size);
    leaves += take;
    rest -= take * size;
    if (rest <= 0 || size == 1) return {pods_, size, leaves};
  }
}

// Largest first over all leaves of these pods; -1 when they hold too little.
int PodChoice::leaves_needed(const int* pods, int count) const {
  int rest = wanted_, leaves = 0;
  for (int size = largest_; size > 0 && rest > 0; --size) {
    const int* sizes = &sizes_[index(size * pods_)];
    int there = 0;
    for (int i = 0; i < count; ++i) there += sizes[pods[i]];
    const int take = std::min(there, (rest + size - 1) / size);
    leaves += take;
    rest -= take * size;
  }
  return rest > 0 ? -1 : leaves;
}

// Climbs from `price` to the price with the best bound: (wanted - gains) / price has one summit,
// because gains are convex in the price.
PodChoice::Count PodChoice::bound_leaves(int pods, int price) {
  const auto lacking = [&](int at) {
    return std::int64_t{wanted_} - ranking(at).sums[index(pods)];
  };
  const auto better = [&](int a, int b) { return lacking(a) * b > lacking(b) * a; };
  for (const int step : {-1, 1})
    while (price + step >= 1 && price + step <= largest_ && better(price + step, price))
      price += step;
  const auto most = std::max<std::int64_t>(lacking(price), 0);
  return {pods, price, std::max(pods, static_cast<int>((most + price - 1) / price))};
}

void PodChoice::try_pods(const int* pods, int count, Answer& answer) {
  const int leaves = leaves_needed(pods, count);
  const auto price = cost(count, std::max(leaves, count));  // each gives a leaf at least
  if (leaves < 0 || price >= limit_) return;
  limit_ = price;
  answer.pods.assign(pods, pods + count);
}

PodChoice::Answer PodChoice::cheapest(int wanted, Weights weights, std::int64_t limit) {
  Answer answer{{}, limit};
  if (largest_ == 0) return answer;
  wanted_ = wanted;
  weights_ = weights;
  limit_ = limit;
  steps_left_ = kMostSteps;
  std::vector<Count> counts;
  const auto all = count_of_all();
  int price = all.price;
  for (int pods = 2; pods <= pods_; ++pods) {
    if (ranking(0).sums[index(pods)] < wanted) continue;
    if (cost(pods, std::max(all.leaves, pods)) >= limit_) break;
    const auto count = bound_leaves(pods, price);
    price = count.price;
    if (cost(pods, count.leaves) >= limit_) continue;
    for (int near = std::max(1, price - 1); near <= std::min(largest_, price + 1); ++near)
      try_pods(ranking(near).pods.data(), pods, answer);
    counts.push_back(count);
  }
  std::int64_t open = limit_;
  for (const auto& count : counts) {
    if (cost(count.pods, count.leaves) >= limit_) continue;
    exchange(count, answer);
    if (steps_left_ < 0) open = std::min(open, cost(count.pods, count.leaves));
  }
  answer.bound = std::min(open, limit_);
  return answer;
}

// Every choice of that many pods that could hold the job for less than the limit, by its gains at
// one price.
void PodChoice::exchange(const Count& count, Answer& answer) {
  chosen_.clear();
  (void)choose(ranking(count.price), count, 0, 0, answer);
}

// The rest of the pods from `next` on in the order of their gains. False: out of steps.
bool PodChoice::choose(const Ranking& order, const Count& count, int next, std::int64_t gained,
                       Answer& answer) {
  const int left = count.pods - static_cast<int>(chosen_.size());
  if (left == 0) {
    try_pods(chosen_.data(), count.pods, answer);
    return true;
  }
  for (int i = next; i + left <= pods_; ++i) {
    const std::int64_t leaves = (limit_ - 1 - count.pods * weights_.pod) / weights_.leaf;
    const std::int64_t most = order.sums[index(i + left)] - order.sums[index(i)];
    if (leaves < count.leaves || leaves * count.price + gained + most < wanted_) return true;
    if (--steps_left_ < 0) return false;
    chosen_.push_back(order.pods[index(i)]);
    const bool goes_on =
        choose(order, count, i + 1, gained + gain(chosen_.back(), count.price), answer);
    chosen_.pop_back();
    if (!goes_on) return false;
  }
  return true;
}

}  // namespace acrf
