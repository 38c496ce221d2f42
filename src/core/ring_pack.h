// SPDX-License-Identifier: GPL-2.0-or-later
// The fewest and cheapest links for a ring of n nodes, in microseconds.
//
// A ring puts one flow on every link it touches, so cost only depends on which switches are
// touched. One leaf: the tightest that fits. One pod (a switch right above leaves of equal weight):
// largest leaf first touches the fewest. Several pods: a lower bound (fewest leaves anywhere,
// fewest pods anywhere) proves most answers; where it does not, pods that are alike in their links
// are chosen by PodChoice, and an exact table "most nodes for a cost" over the tree decides for all
// other trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/leaf_share.h"
#include "core/pod_choice.h"

namespace acrf {

struct PackAnswer {
  std::vector<LeafShare> shares;
  std::int64_t cost = 0;
  bool certified = false;  // proven to be the least cost
  std::int64_t lower_bound = 0;
  std::int64_t runner_up = -1;  // cost under the best other switch; -1: no other fits
};

// Keeps its work space: one object, one caller at a time. The topology must outlive it.
class RingPack {
 public:
  explicit RingPack(const Topology& topology);
  // Fewest leaves first, whatever lies above them.
  static RingPack by_leaves(const Topology& topology);

  // `free`: free nodes by leaf index. False: fewer than `wanted` are free.
  bool solve(const std::vector<int>& free, int wanted, PackAnswer& answer);

 private:
  struct Choice {
    std::int64_t cost;
    std::vector<int> leaves;  // indices
    int last;                 // the one of them that gives what is left over
  };
  // Most nodes below a switch for at most the cost that is the index.
  struct Reach {
    std::vector<int> most;
    std::vector<std::vector<int>> spent_on;  // [child][cost so far] -> spent on that child
  };

  std::int64_t weight(int at) const { return weights_[static_cast<std::size_t>(at)]; }
  bool is_leaf(int at) const { return leaf_index_[static_cast<std::size_t>(at)] >= 0; }
  int free_at(int at) const {
    return (*free_)[static_cast<std::size_t>(leaf_index_[static_cast<std::size_t>(at)])];
  }
  int below(int at) const {
    return is_leaf(at) ? free_at(at) : below_[static_cast<std::size_t>(at)];
  }
  bool is_pod(int at) const { return pod_[static_cast<std::size_t>(at)]; }
  int pod_of_leaf(int leaf) const { return parent_[static_cast<std::size_t>(leaf_switch(leaf))]; }
  int leaf_switch(int leaf) const { return topology_.leaves()[static_cast<std::size_t>(leaf)]; }
  void note_pods(bool equal_weights);
  void sum_up(const std::vector<int>& free);
  int tightest_leaf() const;
  using LeafRange = std::pair<int, int>;  // indices
  void sort_leaves(const std::vector<LeafRange>& ranges, std::vector<int>& order);
  void try_pods();
  void try_above(int at);
  void take_largest_children(int at);
  int tightest_child(int at, int rest) const;
  std::int64_t bound_for(int at);
  int fewest_leaves(int at);
  void try_children(int at, std::span<const int> children);
  bool count_pods(int at);
  void count_leaves(std::span<const int> children);
  void choose_pods(int at);
  void try_exactly(int at);
  bool reach(int at, std::int64_t limit);
  void reach_pod(int at, std::int64_t limit);
  void collect(int at, std::int64_t cost, std::vector<int>& leaves);
  int pick_leaves(Filled filled);
  void offer(int at, const std::vector<int>& leaves, int last);
  std::int64_t cost_of(const std::vector<int>& leaves, int last);
  void mark_above(int at, int nodes);
  int tightest_sister(int last, int rest);
  void finish(PackAnswer& answer);

  const Topology& topology_;
  std::vector<std::int64_t> weights_;    // by switch
  std::vector<bool> pod_;                // by switch: all children are leaves, equal weights
  std::vector<bool> alike_;              // by switch: all children are pods with equal links
  std::vector<int> sibling_;             // by switch: its number among its parent's children
  std::vector<LeafRange> leaves_below_;  // by switch
  std::vector<int> pods_, inner_;        // switches: above leaves only; all that are no leaves
  std::vector<int> parent_;              // by switch
  std::vector<int> leaf_index_;          // by switch, -1 for others
  std::int64_t least_leaf_weight_ = 1;

  int wanted_ = 0;
  const std::vector<int>* free_ = nullptr;
  int most_free_ = 0;       // of any leaf
  int counted_ = -1;        // the switch whose pods pod_choice_ holds
  std::vector<int> below_;  // by switch that is no leaf
  std::vector<int> order_, candidates_, histogram_, mark_, marked_, sums_, starts_, leaves_;
  std::vector<LeafRange> ranges_;
  std::vector<std::uint64_t> others_;  // children not taken: free nodes, then the children's order
  std::vector<int> largest_children_;  // the fewest that hold the job
  std::vector<int> chosen_;            // children
  std::vector<Reach> reach_;
  PodChoice pod_choice_;
  std::int64_t steps_left_ = 0;
  bool proven_ = true;
  std::int64_t bound_ = 0;
  int best_at_ = -1;
  Choice best_{};
  std::int64_t runner_up_ = -1;
};

}  // namespace acrf
