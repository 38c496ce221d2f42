// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/pod_choice.h"

#include <algorithm>

namespace acrf {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

void PodChoice::load(const std::vector<std::pair<int, int>>& pods, const std::vector<int>& free,
                     int largest) {
  pods_ = static_cast<int>(pods.size());
  largest_ = largest;
  const std::size_t width = index(largest_) + 1;
  sizes_.resize(pods.size() * width);
  all_sizes_.assign(width, 0);
  for (std::size_t pod = 0; pod < pods.size(); ++pod) {
    count_sizes({free.data() + pods[pod].first, free.data() + pods[pod].second},
                {&sizes_[pod * width], width});
    add_sizes(static_cast<int>(pod), all_sizes_);
  }
}

// What every pod is worth at every price.
void PodChoice::price_pods() {
  const std::size_t width = index(largest_) + 1;
  gains_.resize(sizes_.size());
  for (std::size_t first = 0; first < sizes_.size(); first += width) {
    int beyond = 0, gain = 0;
    for (std::size_t at = first + width; at-- > first;) {
      gains_[at] = gain += beyond;
      beyond += sizes_[at];  // leaves that hold more than the next price
    }
  }
  rankings_.resize(std::max(rankings_.size(), width));
  for (auto& ranking : rankings_) ranking.known = false;
}

// With at least so many pods in their order.
PodChoice::Ranking& PodChoice::ranking(int price, int pods) {
  Ranking& order = rankings_[index(price)];
  if (!order.known) {
    order.known = true;
    order.pods.clear();
    order.sums.assign(1, 0);
    order.heap.resize(index(pods_));
    for (int pod = 0; pod < pods_; ++pod)  // equal gains: by their order
      order.heap[index(pod)] =
          static_cast<std::uint64_t>(gains_[index(pod * (largest_ + 1) + price)]) << 32 |
          ~index(pod) << 32 >> 32;
    std::make_heap(order.heap.begin(), order.heap.end());
  }
  while (static_cast<int>(order.pods.size()) < pods) {
    std::pop_heap(order.heap.begin(), order.heap.end());
    order.pods.push_back(static_cast<int>(~order.heap.back() & 0xffffffff));
    order.sums.push_back(order.sums.back() + static_cast<int>(order.heap.back() >> 32));
    order.heap.pop_back();
  }
  return order;
}

int PodChoice::fewest_leaves(int wanted) const {
  return fill_largest(wanted, largest_, [&](int size) { return all_sizes_[index(size)]; }).leaves;
}

void PodChoice::add_sizes(int pod, std::span<int> sizes) const {
  const std::size_t width = index(largest_) + 1;
  const int* const own = &sizes_[index(pod) * width];
  for (std::size_t size = 0; size < width; ++size) sizes[size] += own[size];
}

// Largest first over all leaves of these pods.
Filled PodChoice::fill(const int* pods, int count) const {
  return fill_largest(wanted_, largest_, [&](int size) {
    int there = 0;
    for (int i = 0; i < count; ++i) there += sizes_[index(pods[i] * (largest_ + 1) + size)];
    return there;
  });
}

PodChoice::Count PodChoice::bound_at(int pods, int price) {
  const int lacking = std::max(wanted_ - ranking(price, pods).sums[index(pods)], 0);
  return {pods, price, std::max(pods, (lacking + price - 1) / price)};
}

// The pods of a price, then those of the price that is the size of their last leaf, and so on. When
// both prices are the same, the pods meet the bound. The bound of the last price.
PodChoice::Count PodChoice::follow(int pods, int price, Answer& answer) {
  auto bound = bound_at(pods, price);
  for (int i = 0; i < kMostFollowed && cost(pods, bound.leaves) < limit_; ++i) {
    const auto filled = try_pods(ranking(price, pods).pods.data(), pods, answer);
    if (filled.leaves == 0 || filled.last == price) break;
    price = filled.last;
    bound = bound_at(pods, price);
  }
  return bound;
}

// Climbs from `price` to the price with the best bound: (wanted - gains) / price has one summit,
// because gains are convex in the price.
PodChoice::Count PodChoice::bound_leaves(int pods, int price) {
  const auto lacking = [&](int at) {
    return std::int64_t{wanted_} - ranking(at, pods).sums[index(pods)];
  };
  const auto better = [&](int a, int b) { return lacking(a) * b > lacking(b) * a; };
  for (const int step : {-1, 1})
    while (price + step >= 1 && price + step <= largest_ && better(price + step, price))
      price += step;
  return bound_at(pods, price);
}

Filled PodChoice::try_pods(const int* pods, int count, Answer& answer) {
  const auto filled = fill(pods, count);
  const auto price = cost(count, std::max(filled.leaves, count));  // each gives a leaf at least
  if (filled.leaves > 0 && price < limit_) {
    limit_ = price;
    answer.pods.assign(pods, pods + count);
  }
  return filled;
}

PodChoice::Answer PodChoice::cheapest(int wanted, Weights weights, std::int64_t limit) {
  Answer answer{{}, limit};
  if (largest_ == 0) return answer;
  wanted_ = wanted;
  weights_ = weights;
  limit_ = limit;
  steps_left_ = kMostSteps;
  counts_.clear();
  price_pods();
  const int fewest = fewest_leaves(wanted);
  int price = 0;
  for (int pods = 2; pods <= pods_; ++pods) {
    if (ranking(0, pods).sums[index(pods)] < wanted) continue;
    if (cost(pods, std::max(fewest, pods)) >= limit_) break;
    if (price == 0) price = fill(ranking(0, pods).pods.data(), pods).last;
    auto count = follow(pods, price, answer);
    price = count.price;
    if (cost(pods, count.leaves) >= limit_) continue;
    count = bound_leaves(pods, price);
    price = count.price;
    if (cost(pods, count.leaves) >= limit_) continue;
    for (int near = std::max(1, price - 1); near <= std::min(largest_, price + 1); ++near)
      (void)try_pods(ranking(near, pods).pods.data(), pods, answer);
    counts_.push_back(count);
  }
  std::int64_t open = limit_;
  for (const auto& count : counts_) {
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
  (void)choose(count, 0, 0, answer);
}

// The rest of the pods from `next` on in the order of their gains. False: out of steps.
bool PodChoice::choose(const Count& count, int next, std::int64_t gained, Answer& answer) {
  const int left = count.pods - static_cast<int>(chosen_.size());
  if (left == 0) {
    (void)try_pods(chosen_.data(), count.pods, answer);
    return true;
  }
  for (int i = next; i + left <= pods_; ++i) {
    const auto& order = ranking(count.price, i + left);
    const std::int64_t leaves = (limit_ - 1 - count.pods * weights_.pod) / weights_.leaf;
    const std::int64_t most = order.sums[index(i + left)] - order.sums[index(i)];
    if (leaves < count.leaves || leaves * count.price + gained + most < wanted_) return true;
    if (--steps_left_ < 0) return false;
    const int gain = order.sums[index(i) + 1] - order.sums[index(i)];
    chosen_.push_back(order.pods[index(i)]);
    const bool goes_on = choose(count, i + 1, gained + gain, answer);
    chosen_.pop_back();
    if (!goes_on) return false;
  }
  return true;
}

}  // namespace acrf
