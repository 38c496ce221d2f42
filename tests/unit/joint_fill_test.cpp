// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/joint_fill.h"

#include <gtest/gtest.h>

#include "random_chains.h"

namespace acrf {
namespace {

TEST(JointFill, ChainsTogetherAreTheBestOfAllWays) {
  Random random(1);
  int solved = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto problem = random_chains(random, 3, 3);
    const TreeFill fill(problem.topology, problem.leaves);
    const auto shares = fill_jointly(fill, problem.chains(fill), problem.rooms);
    const auto least = BruteForceChains(problem, fill).least();
    ASSERT_EQ(shares.has_value(), least >= 0);
    if (!shares) continue;
    ++solved;
    EXPECT_EQ(shares->cost, least);
    EXPECT_EQ(shares->lower_bound, least);
    expect_sound(problem, fill, *shares);
  }
  EXPECT_GT(solved, 2000);
}

TEST(JointFill, ManyChainsAreTooMuch) {
  const TreeFill fill(Topology::flat(200), {0});
  const std::vector<Chain> few(2, {3, fill.placed(Traffic::kRing, {2})});
  const std::vector<Chain> many(100, {3, fill.placed(Traffic::kRing, {2})});
  EXPECT_EQ(joint_steps(fill, few), 256);
  EXPECT_GT(joint_steps(fill, many), 1'000'000'000);
}

}  // namespace
}  // namespace acrf
