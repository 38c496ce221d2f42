// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/pbqp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "random.h"

namespace acrf {
namespace {

std::int64_t some_cost(Random& random, int forbidden_one_in) {
  if (forbidden_one_in && random.one_in(forbidden_one_in)) return kForbidden;
  return random.below(41) - 10;
}

Pbqp make_nodes(Random& random, int count, int most_options) {
  Pbqp problem;
  for (int node = 0; node < count; ++node) {
    std::vector<std::int64_t> costs;
    for (int i = random.below(most_options); i >= 0; --i) costs.push_back(some_cost(random, 0));
    problem.add_node(std::move(costs));
  }
  return problem;
}

void connect(Pbqp& problem, int a, int b, Random& random, int forbidden_one_in = 0) {
  problem.add_edge(a, b, [&](int, int) { return some_cost(random, forbidden_one_in); });
}

// The least cost of all choices.
std::int64_t brute_force(const Pbqp& problem) {
  std::vector<int> option(static_cast<std::size_t>(problem.node_count()), 0);
  std::int64_t least = kForbidden;
  for (;;) {
    least = std::min(least, problem.cost(option));
    int node = 0;
    while (node < problem.node_count() &&
           ++option[static_cast<std::size_t>(node)] == problem.options(node))
      option[static_cast<std::size_t>(node++)] = 0;
    if (node == problem.node_count()) return least;
  }
}

void expect_exact(const Pbqp& problem) {
  const auto answer = problem.solve();
  EXPECT_TRUE(answer.exact);
  EXPECT_EQ(answer.cost, brute_force(problem));
  EXPECT_EQ(answer.cost, problem.cost(answer.option));
  EXPECT_EQ(answer.lower_bound, answer.cost);
}

TEST(Pbqp, NothingCostsNothing) {
  EXPECT_EQ(Pbqp().solve().cost, 0);
  EXPECT_TRUE(Pbqp().solve().exact);
}

TEST(Pbqp, EdgesBetweenTheSameNodesAddUpInEitherDirection) {
  Pbqp problem;
  problem.add_node({0, 0});
  problem.add_node({0, 0, 0});
  problem.add_edge(0, 1, [](int i, int j) { return i == 1 && j == 2 ? 0 : 5; });
  problem.add_edge(1, 0, [](int j, int i) { return i == 1 && j == 2 ? 1 : 7; });
  const auto answer = problem.solve();
  EXPECT_EQ(answer.option, (std::vector<int>{1, 2}));
  EXPECT_EQ(answer.cost, 1);
}

TEST(Pbqp, TreesAreExact) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    auto problem = make_nodes(random, 1 + random.below(7), 3);
    for (int node = 1; node < problem.node_count(); ++node)
      if (!random.one_in(5)) connect(problem, random.below(node), node, random);
    expect_exact(problem);
  }
}

TEST(Pbqp, RingsAreExact) {
  Random random(2);
  for (int round = 0; round < 2000; ++round) {
    auto problem = make_nodes(random, 3 + random.below(5), 3);
    for (int node = 0; node < problem.node_count(); ++node)
      connect(problem, node, (node + 1) % problem.node_count(), random, 8);
    expect_exact(problem);
  }
}

// Ladders of triangles: every new node touches an edge that is there.
TEST(Pbqp, GraphsOfTreewidthTwoAreExact) {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    auto problem = make_nodes(random, 3 + random.below(5), 3);
    std::vector<std::pair<int, int>> edges{{0, 1}};
    connect(problem, 0, 1, random);
    for (int node = 2; node < problem.node_count(); ++node) {
      const auto [a, b] =
          edges[static_cast<std::size_t>(random.below(static_cast<int>(edges.size())))];
      for (const int end : {a, b}) {
        connect(problem, end, node, random, 10);
        edges.emplace_back(end, node);
      }
    }
    expect_exact(problem);
  }
}

struct Measured {
  int heuristic = 0, optimal = 0;
  std::int64_t optimum = 0, found = 0, bound = 0;
};

// Every pair of nodes is an edge one time in `sparsity`; costs are not negative, so that sums of
// costs can be compared.
Measured measure_general_graphs(std::uint64_t seed, int sparsity) {
  Random random(seed);
  Measured sum;
  for (int round = 0; round < 2000; ++round) {
    Pbqp problem;
    for (int node = 4 + random.below(4); node > 0; --node)
      problem.add_node({random.below(20), random.below(20), random.below(20)});
    for (int b = 1; b < problem.node_count(); ++b)
      for (int a = 0; a < b; ++a)
        if (random.one_in(sparsity))
          problem.add_edge(a, b, [&](int, int) { return random.below(20); });
    const auto answer = problem.solve();
    const auto optimum = brute_force(problem);
    EXPECT_EQ(answer.cost, problem.cost(answer.option));
    EXPECT_LE(answer.lower_bound, optimum);
    EXPECT_GE(answer.cost, optimum);
    if (answer.exact) {
      EXPECT_EQ(answer.gap(), 0);
      EXPECT_EQ(answer.cost, optimum);
      continue;
    }
    ++sum.heuristic;
    sum.optimal += answer.cost == optimum;
    sum.optimum += optimum;
    sum.found += answer.cost;
    sum.bound += answer.lower_bound;
  }
  return sum;
}

void report(const Measured& sum) {
  const auto percent = [](std::int64_t part, std::int64_t whole) {
    return std::to_string(100.0 * static_cast<double>(part) / static_cast<double>(whole));
  };
  testing::Test::RecordProperty("heuristic", sum.heuristic);
  testing::Test::RecordProperty("optimal_percent", percent(sum.optimal, sum.heuristic));
  testing::Test::RecordProperty("excess_percent", percent(sum.found - sum.optimum, sum.optimum));
  testing::Test::RecordProperty("bound_percent", percent(sum.bound, sum.optimum));
}

TEST(Pbqp, OnDenseGraphsTheGapHoldsTheOptimum) {
  const auto sum = measure_general_graphs(4, 1);
  report(sum);
  EXPECT_EQ(sum.heuristic, 2000);
  EXPECT_LT(sum.found * 100, sum.optimum * 103);
  EXPECT_GT(sum.bound * 100, sum.optimum * 90);
}

TEST(Pbqp, OnSparseGraphsTheGapHoldsTheOptimum) {
  const auto sum = measure_general_graphs(5, 2);
  report(sum);
  EXPECT_GT(sum.heuristic, 200);
  EXPECT_LT(sum.found * 100, sum.optimum * 102);
  EXPECT_GT(sum.bound * 100, sum.optimum * 95);
}

TEST(Pbqp, GainsAndForbiddenPairsStayWithinTheGap) {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    auto problem = make_nodes(random, 4 + random.below(4), 3);
    for (int b = 1; b < problem.node_count(); ++b)
      for (int a = 0; a < b; ++a) connect(problem, a, b, random, 12);
    const auto answer = problem.solve();
    EXPECT_EQ(answer.cost, problem.cost(answer.option));
    EXPECT_LE(answer.lower_bound, brute_force(problem));
    EXPECT_GE(answer.cost, brute_force(problem));
  }
}

TEST(Pbqp, SaysWhenNothingIsAllowed) {
  Pbqp problem;
  problem.add_node({0, 1});
  problem.add_node({0, 1});
  problem.add_edge(0, 1, [](int, int) { return kForbidden; });
  EXPECT_EQ(problem.solve().cost, kForbidden);
}

// Four nodes that all must differ, with four options each: forbidden pairs survive RN.
TEST(Pbqp, ForbiddenPairsAreAvoidedWherePossible) {
  Random random(6);
  for (int round = 0; round < 500; ++round) {
    Pbqp problem;
    for (int node = 0; node < 4; ++node)
      problem.add_node({random.below(9), random.below(9), random.below(9), random.below(9)});
    for (int b = 1; b < 4; ++b)
      for (int a = 0; a < b; ++a)
        problem.add_edge(a, b, [](int i, int j) { return i == j ? kForbidden : 0; });
    const auto answer = problem.solve();
    const std::set<int> used(answer.option.begin(), answer.option.end());
    EXPECT_EQ(used.size(), 4u);
    EXPECT_LE(answer.lower_bound, brute_force(problem));
  }
}

}  // namespace
}  // namespace acrf
