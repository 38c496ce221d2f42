// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/pbqp.h"

#include <algorithm>
#include <array>

namespace acrf {

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

std::int64_t plus(std::int64_t a, std::int64_t b) {
  return a >= kForbidden || b >= kForbidden ? kForbidden : std::min(a + b, kForbidden);
}

int cheapest(const std::vector<std::int64_t>& costs) {
  return static_cast<int>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

}  // namespace

// Takes a copy of the problem apart, node by node. To choose, RN fixes the node's option. To bound,
// RN instead lets the node take a different option towards each two neighbours, with its own cost
// shared out between them: that can only lower the minimum.
class PbqpReduction {
 public:
  explicit PbqpReduction(const Pbqp& problem);

  PbqpAnswer choose();
  std::int64_t bound();

 private:
  using Costs = std::vector<std::int64_t>;

  int degree(int node) const { return static_cast<int>(edges_of_[at(node)].size()); }
  int other_end(int edge, int node) const {
    return edges_[at(edge)].a == node ? edges_[at(edge)].b : edges_[at(edge)].a;
  }
  std::int64_t cost(int edge, int node, int option, int other) const;
  std::int64_t row_minimum(int edge, int node, int option) const;
  int next();
  int highest_degree() const;
  void touch(int node);
  void detach(int node);
  void connect(int a, int b, Costs costs);
  void reduce_one(int node, int edge, const Costs& own);
  void reduce_two(int node, int first, int second, const Costs& own);
  bool reduce_exactly(int node);
  int local_choice(int node) const;
  void fix(int node);
  std::vector<Costs> shares(int node, const std::vector<int>& edges) const;
  void split(int node);

  std::vector<Costs> nodes_;
  std::vector<Pbqp::Edge> edges_;
  std::vector<std::vector<int>> edges_of_;
  std::vector<bool> gone_;
  std::array<std::vector<int>, 3> ready_;  // nodes that had this degree when they were put here
  std::vector<std::pair<int, std::vector<int>>> removed_;  // node, its edges at that time
  std::vector<int> option_;                                // -1: to be found on the way back
  std::int64_t constant_ = 0;                              // what the removed parts cost
};

PbqpReduction::PbqpReduction(const Pbqp& problem)
    : nodes_(problem.nodes_),
      edges_of_(nodes_.size()),
      gone_(nodes_.size()),
      option_(nodes_.size(), -1) {
  for (const auto& edge : problem.edges_) connect(edge.a, edge.b, edge.costs);
  for (std::size_t node = 0; node < nodes_.size(); ++node) touch(static_cast<int>(node));
}

std::int64_t PbqpReduction::cost(int edge, int node, int option, int other) const {
  const auto& e = edges_[at(edge)];
  const std::size_t columns = nodes_[at(e.b)].size();
  return e.a == node ? e.costs[at(option) * columns + at(other)]
                     : e.costs[at(other) * columns + at(option)];
}

std::int64_t PbqpReduction::row_minimum(int edge, int node, int option) const {
  std::int64_t least = kForbidden;
  const int others = static_cast<int>(nodes_[at(other_end(edge, node))].size());
  for (int j = 0; j < others; ++j) least = std::min(least, cost(edge, node, option, j));
  return least;
}

void PbqpReduction::touch(int node) {
  if (degree(node) <= 2) ready_[at(degree(node))].push_back(node);
}

// The next node to remove without loss, cheapest kind first; -1: none is left.
int PbqpReduction::next() {
  for (std::size_t kind = 0; kind < ready_.size(); ++kind) {
    while (!ready_[kind].empty()) {
      const int node = ready_[kind].back();
      ready_[kind].pop_back();
      if (!gone_[at(node)] && degree(node) == static_cast<int>(kind)) return node;
    }
  }
  return -1;
}

int PbqpReduction::highest_degree() const {
  int highest = -1;
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
    if (!gone_[at(node)] && (highest < 0 || degree(node) > degree(highest))) highest = node;
  return highest;
}

void PbqpReduction::connect(int a, int b, Costs costs) {
  for (const int edge : edges_of_[at(a)]) {
    if (other_end(edge, a) != b) continue;
    auto& e = edges_[at(edge)];
    const std::size_t columns = nodes_[at(b)].size();
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const auto row = static_cast<int>(i / columns), column = static_cast<int>(i % columns);
      auto& sum = e.a == a ? e.costs[i] : e.costs[at(column) * nodes_[at(a)].size() + at(row)];
      sum = plus(sum, costs[i]);
    }
    return;
  }
  const int made = static_cast<int>(edges_.size());
  edges_.push_back({a, b, std::move(costs)});
  edges_of_[at(a)].push_back(made);
  edges_of_[at(b)].push_back(made);
}

void PbqpReduction::detach(int node) {
  gone_[at(node)] = true;
  for (const int edge : edges_of_[at(node)]) {
    const int other = other_end(edge, node);
    std::erase(edges_of_[at(other)], edge);
    touch(other);
  }
  removed_.emplace_back(node, std::move(edges_of_[at(node)]));
  edges_of_[at(node)].clear();
}

// Whatever the neighbour takes, the node answers with its best option.
void PbqpReduction::reduce_one(int node, int edge, const Costs& own) {
  auto& other = nodes_[at(other_end(edge, node))];
  for (int j = 0; j < static_cast<int>(other.size()); ++j) {
    std::int64_t least = kForbidden;
    for (int i = 0; i < static_cast<int>(own.size()); ++i)
      least = std::min(least, plus(own[at(i)], cost(edge, node, i, j)));
    other[at(j)] = plus(other[at(j)], least);
  }
}

void PbqpReduction::reduce_two(int node, int first, int second, const Costs& own) {
  const int left = other_end(first, node), right = other_end(second, node);
  Costs costs;
  for (int j = 0; j < static_cast<int>(nodes_[at(left)].size()); ++j) {
    Costs towards_left(own.size());
    for (int i = 0; i < static_cast<int>(own.size()); ++i)
      towards_left[at(i)] = plus(own[at(i)], cost(first, node, i, j));
    for (int k = 0; k < static_cast<int>(nodes_[at(right)].size()); ++k) {
      std::int64_t least = kForbidden;
      for (int i = 0; i < static_cast<int>(own.size()); ++i)
        least = std::min(least, plus(towards_left[at(i)], cost(second, node, i, k)));
      costs.push_back(least);
    }
  }
  connect(left, right, std::move(costs));
}

bool PbqpReduction::reduce_exactly(int node) {
  if (node < 0) return false;
  const auto edges = edges_of_[at(node)];
  if (edges.empty()) constant_ = plus(constant_, nodes_[at(node)][at(cheapest(nodes_[at(node)]))]);
  if (edges.size() == 1) reduce_one(node, edges[0], nodes_[at(node)]);
  if (edges.size() == 2) reduce_two(node, edges[0], edges[1], nodes_[at(node)]);
  detach(node);
  return true;
}

// The option that is best if every neighbour were free to answer it.
int PbqpReduction::local_choice(int node) const {
  Costs costs = nodes_[at(node)];
  for (int i = 0; i < static_cast<int>(costs.size()); ++i) {
    for (const int edge : edges_of_[at(node)]) {
      const auto& other = nodes_[at(other_end(edge, node))];
      std::int64_t least = kForbidden;
      for (int j = 0; j < static_cast<int>(other.size()); ++j)
        least = std::min(least, plus(other[at(j)], cost(edge, node, i, j)));
      costs[at(i)] = plus(costs[at(i)], least);
    }
  }
  return cheapest(costs);
}

void PbqpReduction::fix(int node) {
  const int option = local_choice(node);
  option_[at(node)] = option;
  for (const int edge : edges_of_[at(node)]) {
    auto& other = nodes_[at(other_end(edge, node))];
    for (int j = 0; j < static_cast<int>(other.size()); ++j)
      other[at(j)] = plus(other[at(j)], cost(edge, node, option, j));
  }
  detach(node);
}

// Shares of the node's costs, one per two edges, such that every part finds an option equally
// dear: parts that agree on the option lose nothing.
std::vector<PbqpReduction::Costs> PbqpReduction::shares(int node,
                                                        const std::vector<int>& edges) const {
  const auto& own = nodes_[at(node)];
  const auto parts = static_cast<std::int64_t>((edges.size() + 1) / 2);
  std::vector<Costs> share(at(static_cast<int>(parts)), Costs(own.size()));
  for (int i = 0; i < static_cast<int>(own.size()); ++i) {
    std::int64_t total = own[at(i)];
    Costs least(share.size());
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const auto row = row_minimum(edges[e], node, i);
      least[e / 2] = plus(least[e / 2], row);
      total = plus(total, row);
    }
    std::int64_t rest = total;
    for (std::size_t part = 0; part < share.size(); ++part) {
      const std::int64_t mine = part + 1 < share.size() ? total / parts : rest;
      share[part][at(i)] = total >= kForbidden ? kForbidden : mine - least[part];
      rest -= mine;
    }
  }
  return share;
}

void PbqpReduction::split(int node) {
  const auto edges = edges_of_[at(node)];
  const auto share = shares(node, edges);
  for (std::size_t e = 0; e < edges.size(); e += 2) {
    if (e + 1 < edges.size())
      reduce_two(node, edges[e], edges[e + 1], share[e / 2]);
    else
      reduce_one(node, edges[e], share[e / 2]);
  }
  detach(node);
}

PbqpAnswer PbqpReduction::choose() {
  PbqpAnswer answer;
  while (removed_.size() < nodes_.size()) {
    if (reduce_exactly(next())) continue;
    answer.exact = false;
    fix(highest_degree());
  }
  for (auto step = removed_.rbegin(); step != removed_.rend(); ++step) {
    const auto& [node, edges] = *step;
    if (option_[at(node)] >= 0) continue;
    Costs costs = nodes_[at(node)];
    for (int i = 0; i < static_cast<int>(costs.size()); ++i)
      for (const int edge : edges)
        costs[at(i)] = plus(costs[at(i)], cost(edge, node, i, option_[at(other_end(edge, node))]));
    option_[at(node)] = cheapest(costs);
  }
  answer.option = option_;
  return answer;
}

std::int64_t PbqpReduction::bound() {
  while (removed_.size() < nodes_.size())
    if (!reduce_exactly(next())) split(highest_degree());
  return constant_;
}

int Pbqp::add_node(std::vector<std::int64_t> costs) {
  nodes_.push_back(std::move(costs));
  return node_count() - 1;
}

std::int64_t Pbqp::cost(const std::vector<int>& option) const {
  std::int64_t sum = 0;
  for (std::size_t node = 0; node < nodes_.size(); ++node)
    sum = plus(sum, nodes_[node][at(option[node])]);
  for (const auto& edge : edges_) {
    const int i = option[at(edge.a)], j = option[at(edge.b)];
    sum = plus(sum, edge.costs[at(i) * nodes_[at(edge.b)].size() + at(j)]);
  }
  return sum;
}

// RN looks at a node once, with its neighbours still open: afterwards every node may change its
// mind, as long as that lowers the cost.
void Pbqp::improve(std::vector<int>& option) const {
  std::vector<std::vector<const Edge*>> edges_of(nodes_.size());
  for (const auto& edge : edges_)
    for (const int end : {edge.a, edge.b}) edges_of[at(end)].push_back(&edge);
  for (bool better = true; better;) {
    better = false;
    for (int node = 0; node < node_count(); ++node) {
      auto costs = nodes_[at(node)];
      for (const auto* edge : edges_of[at(node)]) {
        for (int i = 0; i < options(node); ++i) {
          const int row = edge->a == node ? i : option[at(edge->a)];
          const int column = edge->b == node ? i : option[at(edge->b)];
          costs[at(i)] =
              plus(costs[at(i)], edge->costs[at(row) * at(options(edge->b)) + at(column)]);
        }
      }
      const int best = cheapest(costs);
      if (costs[at(best)] >= costs[at(option[at(node)])]) continue;
      option[at(node)] = best;
      better = true;
    }
  }
}

PbqpAnswer Pbqp::solve() const {
  auto answer = PbqpReduction(*this).choose();
  if (!answer.exact) improve(answer.option);
  answer.cost = answer.lower_bound = cost(answer.option);
  if (!answer.exact) answer.lower_bound = std::min(answer.cost, PbqpReduction(*this).bound());
  return answer;
}

}  // namespace acrf
