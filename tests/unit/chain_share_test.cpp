// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/chain_share.h"

#include <gtest/gtest.h>

#include "core/joint_fill.h"
#include "random_chains.h"

namespace acrf {
namespace {

constexpr std::int64_t kScale = 64;

struct Measured {
  int solved = 0, proven = 0, optimal = 0;
  std::int64_t optimum = 0, found = 0, bound = 0;
};

// Against fill_jointly(), which is exact.
Measured measure(std::uint64_t seed, int most_chains, int longest, int rounds) {
  Random random(seed);
  Measured sum;
  while (sum.solved < 2000) {
    const auto problem = random_chains(random, most_chains, longest);
    TreeFill fill(problem.topology, problem.leaves, kScale);
    const auto chains = problem.chains(fill);
    const auto exact = fill_jointly(fill, chains, problem.rooms);
    const auto shares = share_leaves(fill, chains, problem.rooms, 2 * kScale, rounds);
    EXPECT_EQ(shares.has_value(), exact.has_value());
    if (!shares || !exact) continue;
    expect_sound(problem, fill, *shares);
    EXPECT_GE(shares->cost, exact->cost);
    EXPECT_LE(shares->lower_bound, exact->cost);
    ++sum.solved;
    sum.proven += shares->cost == shares->lower_bound;
    sum.optimal += shares->cost == exact->cost;
    sum.optimum += exact->cost;
    sum.found += shares->cost;
    sum.bound += shares->lower_bound;
  }
  return sum;
}

void report(const Measured& sum) {
  const auto percent = [](std::int64_t part, std::int64_t whole) {
    return std::to_string(100.0 * static_cast<double>(part) / static_cast<double>(whole));
  };
  testing::Test::RecordProperty("proven_percent", percent(sum.proven, sum.solved));
  testing::Test::RecordProperty("optimal_percent", percent(sum.optimal, sum.solved));
  testing::Test::RecordProperty("excess_percent", percent(sum.found - sum.optimum, sum.optimum));
  testing::Test::RecordProperty("bound_percent", percent(sum.bound, sum.optimum));
}

TEST(ChainShare, SingleNodesAreExactWithoutRounds) {
  const auto sum = measure(1, 6, 1, 0);
  EXPECT_EQ(sum.proven, sum.solved);
}

TEST(ChainShare, LongerChainsStayWithinASmallGap) {
  const auto sum = measure(2, 4, 3, 60);
  report(sum);
  EXPECT_GT(sum.proven * 100, sum.solved * 80);
  EXPECT_GT(sum.optimal * 100, sum.solved * 97);
  EXPECT_LT(sum.found * 1000, sum.optimum * 1005);
  EXPECT_GT(sum.bound * 100, sum.optimum * 97);
}

TEST(ChainShare, RoundsPay) {
  const auto without = measure(3, 4, 3, 0), with = measure(3, 4, 3, 60);
  EXPECT_GT(with.proven, without.proven);
  EXPECT_LT(with.found, without.found);
}

}  // namespace
}  // namespace acrf
