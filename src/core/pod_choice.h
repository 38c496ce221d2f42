// SPDX-License-Identifier: GPL-2.0-or-later
// Which pods for a ring that spans several: m pods cost m links, L leaves cost L more.
//
// With the pods given, the largest leaves come first. Which pods is decided by a price: at `price`
// nodes a leaf, a pod is worth gain(pod, price), the sum over its leaves of what they hold beyond
// the price, and m pods with L leaves hold at most L * price + the m largest gains. So at every
// price, L >= (wanted - m largest gains) / price: the best price gives a bound, and its pods mostly
// meet it. The bound at one price also says which pods can be exchanged for which without losing
// too much; where the pods do not meet the bound, all such exchanges are tried.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/leaf_sizes.h"

namespace acrf {

class PodChoice {
 public:
  static constexpr int kLargestLeaf = kLargestCounted;

  struct Weights {
    std::int64_t pod = 1, leaf = 1;
  };
  struct Answer {
    std::vector<int> pods;   // by their order in load(); empty: none below the limit was found
    std::int64_t bound = 0;  // no answer of two pods or more costs less; at most the limit
  };

  // The pods, as ranges of leaves in `free`, the free nodes by leaf: none above `largest`, and that
  // is at most kLargestLeaf.
  void load(const std::vector<std::pair<int, int>>& pods, const std::vector<int>& free,
            int largest);

  // The fewest leaves of all pods that hold `wanted`; 0: they do not.
  int fewest_leaves(int wanted) const;
  // Adds how many leaves the pod has of each size up to the largest.
  void add_sizes(int pod, std::span<int> sizes) const;

  // The cheapest two or more of the pods that hold `wanted` for less than `limit`. It is proven
  // when the bound is its cost, or the limit when there is none. Microseconds; the search for
  // exchanges gives up after kMostSteps.
  Answer cheapest(int wanted, Weights weights, std::int64_t limit);

 private:
  static constexpr int kMostSteps = 2000, kMostFollowed = 4;

  // The pods by gain at one price, as far as they were asked for: the rest is a heap.
  struct Ranking {
    bool known = false;
    std::vector<std::uint64_t> heap;  // gain, then the pods' own order
    std::vector<int> pods;            // of the largest gains
    std::vector<int> sums;            // of the 0, 1, 2... largest
  };
  // What is known about answers with a number of pods.
  struct Count {
    int pods;
    int price;
    int leaves;  // at least
  };

  void price_pods();
  Ranking& ranking(int price, int pods);
  Filled fill(const int* pods, int count) const;
  Count bound_at(int pods, int price);
  Count follow(int pods, int price, Answer& answer);
  Count bound_leaves(int pods, int price);
  std::int64_t cost(int pods, int leaves) const {
    return pods * weights_.pod + leaves * weights_.leaf;
  }
  Filled try_pods(const int* pods, int count, Answer& answer);
  void exchange(const Count& count, Answer& answer);
  bool choose(const Count& count, int next, std::int64_t gained, Answer& answer);

  int pods_ = 0, largest_ = 0;
  std::vector<int> sizes_;         // [pod][size] -> leaves of that size
  std::vector<int> all_sizes_;     // of all pods
  std::vector<int> gains_;         // [pod][price]
  std::vector<Ranking> rankings_;  // by price
  std::vector<Count> counts_;
  std::vector<int> chosen_;
  int wanted_ = 0, steps_left_ = 0;
  Weights weights_;
  std::int64_t limit_ = 0;
};

}  // namespace acrf
