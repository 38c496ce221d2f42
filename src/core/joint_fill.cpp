// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/joint_fill.h"

#include <algorithm>

namespace acrf {

namespace {

constexpr std::int64_t kNoWay = INT64_MAX / 4;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// A state is how many nodes each chain takes, as one number (a digit per chain).
class JointFill {
 public:
  JointFill(const TreeFill& fill, const std::vector<Chain>& chains);
  std::optional<ChainShares> solve(const std::vector<LeafRoom>& rooms);

 private:
  using Table = std::vector<std::int64_t>;  // by state

  int digit(int state, std::size_t chain) const {
    return state / stride_[chain] % (chains_[chain].length + 1);
  }
  bool can_add(int a, int b) const;
  Table leaf_table(const LeafRoom& room) const;
  void add_link(std::size_t vertex);
  void merge(std::size_t vertex);
  std::vector<std::vector<int>> trace_back() const;

  const TreeFill& fill_;
  const std::vector<Chain>& chains_;
  std::vector<int> stride_;
  int states_ = 1;
  std::vector<int> taken_;            // by state: nodes in all
  std::vector<Table> best_, before_;  // as in TreeFill
};

JointFill::JointFill(const TreeFill& fill, const std::vector<Chain>& chains)
    : fill_(fill), chains_(chains), best_(fill.tree().size()), before_(fill.tree().size()) {
  for (const auto& chain : chains_) {
    stride_.push_back(states_);
    states_ *= chain.length + 1;
  }
  for (int state = 0; state < states_; ++state) {
    taken_.push_back(0);
    for (std::size_t c = 0; c < chains_.size(); ++c) taken_.back() += digit(state, c);
  }
}

bool JointFill::can_add(int a, int b) const {
  for (std::size_t c = 0; c < chains_.size(); ++c)
    if (digit(a, c) + digit(b, c) > chains_[c].length) return false;
  return true;
}

JointFill::Table JointFill::leaf_table(const LeafRoom& room) const {
  Table table(at(states_), kNoWay);
  for (int state = 0; state < states_; ++state)
    if (taken_[at(state)] >= room.low && taken_[at(state)] <= room.high) table[at(state)] = 0;
  return table;
}

void JointFill::add_link(std::size_t vertex) {
  for (int state = 0; state < states_; ++state) {
    auto& cost = best_[vertex][at(state)];
    if (cost >= kNoWay) continue;
    for (std::size_t c = 0; c < chains_.size(); ++c)
      cost += fill_.link_cost(chains_[c].ends, vertex, digit(state, c), chains_[c].length);
  }
}

void JointFill::merge(std::size_t vertex) {
  auto& parent = best_[at(fill_.tree()[vertex].parent)];
  Table merged(at(states_), kNoWay);
  for (int b = 0; b < states_; ++b) {
    const std::int64_t own = best_[vertex][at(b)];
    if (own >= kNoWay) continue;
    for (int a = 0; a + b < states_; ++a) {
      const std::int64_t sum = parent[at(a)] + own;
      if (sum < merged[at(a + b)] && can_add(a, b)) merged[at(a + b)] = sum;
    }
  }
  before_[vertex] = std::move(parent);
  parent = std::move(merged);
}

std::optional<ChainShares> JointFill::solve(const std::vector<LeafRoom>& rooms) {
  const auto& tree = fill_.tree();
  for (std::size_t vertex = 0; vertex < tree.size(); ++vertex) {
    if (tree[vertex].slot >= 0)
      best_[vertex] = leaf_table(rooms[at(tree[vertex].slot)]);
    else
      best_[vertex] = leaf_table({0, 0, 0});
  }
  for (std::size_t vertex = tree.size(); vertex-- > 1;) {
    add_link(vertex);
    merge(vertex);
  }
  const std::int64_t cost = best_[0].back();
  if (cost >= kNoWay) return std::nullopt;
  return ChainShares{trace_back(), cost, cost};
}

std::vector<std::vector<int>> JointFill::trace_back() const {
  const auto& tree = fill_.tree();
  std::vector<std::vector<int>> counts(chains_.size(), std::vector<int>(fill_.slots()));
  std::vector<int> left(tree.size());
  left[0] = states_ - 1;
  for (std::size_t vertex = 0; vertex < tree.size(); ++vertex) {
    if (vertex) {
      int& above = left[at(tree[vertex].parent)];
      std::int64_t least = kNoWay;
      for (int b = 0; b <= above; ++b) {
        const std::int64_t own = best_[vertex][at(b)], rest = before_[vertex][at(above - b)];
        if (own >= kNoWay || own + rest >= least || !can_add(above - b, b)) continue;
        least = own + rest;
        left[vertex] = b;
      }
      above -= left[vertex];
    }
    if (tree[vertex].slot < 0) continue;
    for (std::size_t c = 0; c < chains_.size(); ++c)
      counts[c][at(tree[vertex].slot)] = digit(left[vertex], c);
  }
  return counts;
}

}  // namespace

std::int64_t joint_steps(const TreeFill& fill, const std::vector<Chain>& chains) {
  constexpr std::int64_t kEnough = INT64_MAX / 1'000'000;
  auto steps = static_cast<std::int64_t>(fill.tree().size());
  for (const auto& chain : chains) {
    const std::int64_t states = chain.length + 1;
    if (steps > kEnough / (states * states)) return kEnough;
    steps *= states * states;
  }
  return steps;
}

std::optional<ChainShares> fill_jointly(const TreeFill& fill, const std::vector<Chain>& chains,
                                        const std::vector<LeafRoom>& rooms) {
  return JointFill(fill, chains).solve(rooms);
}

}  // namespace acrf
