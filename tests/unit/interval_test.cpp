// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/interval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "random.h"

namespace acrf {
namespace {

using testing::HasSubstr;

// Expected wall time per work, written down in another way than in the core: solved from the
// recurrence E = p s + (1 - p)(mean of a failed try + E_restart + E).
double wall_per_work(double interval, double cost, double mtbf, double restart) {
  const auto until_done = [mtbf](double length, double after_failure) {
    const double p = std::exp(-length / mtbf);
    const double failed_try = mtbf - length * p / (1 - p);
    return length + (1 - p) / p * (failed_try + after_failure);
  };
  const double restarted = restart > 0 ? until_done(restart, 0) : 0;
  return until_done(interval + cost, restarted) / interval;
}

// The overhead has one minimum: golden section.
double least_overhead(double cost, double mtbf, double restart) {
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double low = 1e-6 * mtbf, high = 2 * mtbf;
  while (high - low > 1e-9 * mtbf) {
    const double left = high - ratio * (high - low), right = low + ratio * (high - low);
    if (overhead(left, cost, mtbf, restart) < overhead(right, cost, mtbf, restart))
      high = right;
    else
      low = left;
  }
  return overhead(low, cost, mtbf, restart);
}

// Evenly on a logarithmic scale.
double between(Random& random, double low, double high) {
  return low * std::pow(high / low, random.below(1'000'001) / 1e6);
}

TEST(Interval, OverheadIsWhatTheRecurrenceGives) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const double mtbf = between(random, 1e3, 1e6), interval = mtbf * between(random, 0.05, 3);
    const double cost = mtbf * between(random, 1e-3, 2), restart = mtbf * between(random, 1e-3, 1);
    const double wall = wall_per_work(interval, cost, mtbf, restart);
    ASSERT_NEAR(overhead(interval, cost, mtbf, restart) / (wall - 1), 1, 1e-9)
        << interval << ' ' << cost << ' ' << mtbf << ' ' << restart;
  }
}

TEST(Interval, BestIsWithinAThousandthOfTheLeastOverhead) {
  Random random(2);
  for (int i = 0; i < 1000; ++i) {
    const double mtbf = between(random, 1e4, 1e8), cost = mtbf * between(random, 1e-6, 0.3);
    const double restart = random.one_in(2) ? 0 : mtbf * between(random, 1e-4, 0.3);
    const double least = least_overhead(cost, mtbf, restart);
    const double best = overhead(best_interval_s(cost, mtbf), cost, mtbf, restart);
    ASSERT_GE(best, least * (1 - 1e-7));
    ASSERT_LE(best, least * 1.001) << cost << ' ' << mtbf << ' ' << restart;
  }
}

TEST(Interval, BestStaysCloseUpToTheLimitOfTheFormula) {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    const double mtbf = between(random, 1e3, 1e6), cost = mtbf * between(random, 0.3, 4);
    const double best = overhead(best_interval_s(cost, mtbf), cost, mtbf, 0);
    ASSERT_LE(best, 1.01 * least_overhead(cost, mtbf, 0)) << cost << ' ' << mtbf;
  }
}

TEST(Interval, RareFailuresGiveYoungsFormula) {
  EXPECT_NEAR(best_interval_s(60, 1e9) / std::sqrt(2 * 60 * 1e9), 1, 1e-3);
}

TEST(Interval, BestGrowsWithMtbfAndCost) {
  for (double mtbf = 1000; mtbf < 1e8; mtbf *= 1.3)
    EXPECT_LT(best_interval_s(60, mtbf), best_interval_s(60, 1.3 * mtbf)) << mtbf;
  for (double cost = 1; cost < 1000; cost *= 1.3)
    EXPECT_LT(best_interval_s(cost, 1e5), best_interval_s(1.3 * cost, 1e5)) << cost;
}

TEST(Interval, BestHasLimits) {
  EXPECT_EQ(best_interval_s(2000, 1000), 1000);
  EXPECT_EQ(best_interval_s(5000, 1000), 1000);
  EXPECT_NEAR(best_interval_s(1999.999, 1000), 889, 1);  // the formula's last value, 8/9
  EXPECT_EQ(best_interval_s(0, 1000), 1);
  EXPECT_EQ(best_interval_s(60, 1e-3), 1);
}

TEST(Interval, PartsAddUpAndGrow) {
  const auto parts = split_overhead(1800, 60, 36'000, 300);
  EXPECT_DOUBLE_EQ(parts.checkpoints, 60.0 / 1800);
  EXPECT_DOUBLE_EQ(parts.total(), overhead(1800, 60, 36'000, 300));
  EXPECT_EQ(split_overhead(1800, 60, 36'000, 0).restarts, 0);
  EXPECT_EQ(split_overhead(1800, 60, 36'000, 0).lost, parts.lost);
  EXPECT_GT(split_overhead(3600, 60, 36'000, 300).lost, parts.lost);
  EXPECT_GT(split_overhead(1800, 60, 18'000, 300).restarts, parts.restarts);
}

TEST(Interval, RareFailuresLoseHalfAnInterval) {
  const auto parts = split_overhead(1800, 60, 1e12, 300);
  EXPECT_NEAR(parts.lost * 1800 / (1860.0 * 1860 / 2 / 1e12), 1, 1e-8);
  EXPECT_NEAR(parts.restarts * 1800 / (1860.0 * 300 / 1e12), 1, 1e-8);
}

TEST(Interval, HopelessJobsHaveInfiniteOverhead) {
  EXPECT_TRUE(std::isinf(overhead(1e6, 60, 1, 0)));
  EXPECT_TRUE(std::isinf(overhead(1e6, 60, 1, 300)));
}

TEST(Interval, NewClusterHasThePublishedRate) {
  EXPECT_DOUBLE_EQ(failures_per_node_day({}), kPublishedFailuresPerNodeDay);
}

TEST(Interval, YoungHistoryMovesTheRateSlowlyAndOldHistoryWins) {
  EXPECT_NEAR(failures_per_node_day({1, 10}), 4.79 / 1010, 1e-12);
  EXPECT_NEAR(failures_per_node_day({0, 1000}), kPublishedFailuresPerNodeDay / 2, 1e-12);
  EXPECT_NEAR(failures_per_node_day({10'000, 1e6}) / 0.01, 1, 0.001);
  EXPECT_GT(failures_per_node_day({0, 1e9}), 0);
}

TEST(Interval, RateGrowsWithFailuresAndFallsWithCalmDays) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_LT(failures_per_node_day({1.0 * i, 500}), failures_per_node_day({i + 1.0, 500}));
    EXPECT_GT(failures_per_node_day({5, 100.0 * i}), failures_per_node_day({5, 100.0 * i + 100}));
  }
}

TEST(Interval, PartOfANodeFailsLikeANode) {
  EXPECT_EQ(nodes_for_gpus(1), 1);
  EXPECT_EQ(nodes_for_gpus(8), 1);
  EXPECT_EQ(nodes_for_gpus(9), 2);
  EXPECT_EQ(nodes_for_gpus(16'384), 2048);
}

TEST(Interval, MtbfIsSharedByTheNodes) {
  EXPECT_DOUBLE_EQ(job_mtbf_s(1, 0.01), 100 * 86'400);
  EXPECT_DOUBLE_EQ(job_mtbf_s(100, 0.01), 86'400);
}

TEST(Interval, AutoIsWholeSecondsAndAtMostADay) {
  EXPECT_EQ(auto_interval_s(1, {}, 3600), kLongestAutoInterval_s);
  const double mtbf = job_mtbf_s(2048, kPublishedFailuresPerNodeDay);
  EXPECT_NEAR(static_cast<double>(auto_interval_s(2048, {}, 60)), best_interval_s(60, mtbf), 0.5);
  EXPECT_LT(auto_interval_s(2048, {1000, 10'000}, 60), auto_interval_s(2048, {}, 60));
}

TEST(Interval, DeclaredCostThenMedianThenAssumption) {
  EXPECT_EQ(checkpoint_cost_s(7, {1, 2, 3}), 7);
  EXPECT_EQ(checkpoint_cost_s(std::nullopt, {9, 1, 100}), 9);
  EXPECT_EQ(checkpoint_cost_s(std::nullopt, {4, 1, 100, 2}), 3);
  EXPECT_EQ(checkpoint_cost_s(std::nullopt, {}), kAssumedCheckpointCost_s);
}

TEST(Interval, AutoOrADuration) {
  EXPECT_TRUE(parse_interval("auto")->automatic);
  EXPECT_TRUE(parse_interval("AUTO")->automatic);
  EXPECT_EQ(parse_interval("90s")->seconds, 90);
  EXPECT_EQ(parse_interval("30")->seconds, 1800);
  EXPECT_FALSE(parse_interval("30")->automatic);
}

TEST(Interval, BadIntervalsSayWhatIsAllowed) {
  for (const auto bad : {"", "automatic", "-5", "never", "99999999999999999999"}) {
    const auto parsed = parse_interval(bad);
    ASSERT_FALSE(parsed.ok()) << bad;
    EXPECT_THAT(parsed.error().sentence, HasSubstr(std::string("'") + bad + "'"));
    EXPECT_THAT(parsed.error().sentence, HasSubstr("auto, minutes, minutes:seconds"));
  }
  ASSERT_FALSE(parse_interval("0s").ok());
  EXPECT_THAT(parse_interval("0s").error().sentence, HasSubstr("at least one second"));
}

}  // namespace
}  // namespace acrf
