// SPDX-License-Identifier: GPL-2.0-or-later
// Chaos for as long as LIVE_CHAOS_SECONDS says, by the plan of LIVE_CHAOS_SEED; contrib/bench chaos
// prints the same as a table. A plan is the same whenever and wherever it is made.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "chaos_driver.h"
#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::IsEmpty;

class Chaos : public LiveCluster {
 protected:
  static std::uint64_t number(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text ? parse_unsigned(text).value_or(otherwise) : otherwise;
  }
};

TEST(ChaosPlan, TheSeedAloneDecides) {
  const auto words = [](const ChaosPlan& plan) {
    std::string text;
    for (const auto& job : plan.jobs)
      text += fmt::format("{} {} {} {}\n", job.at_ms, job.nodes, job.gpus_per_node, job.steps);
    for (const auto& next : plan.disturbances)
      text += fmt::format("{} {} {} {} {}\n", next.at_ms, next.lasts_ms, name_of(next.kind),
                          next.node, next.pick);
    return text;
  };
  EXPECT_EQ(words(chaos_plan(7, 60, 8)), words(chaos_plan(7, 60, 8)));
  EXPECT_NE(words(chaos_plan(7, 60, 8)), words(chaos_plan(8, 60, 8)));
}

TEST(ChaosPlan, AMinuteHasEveryDisturbance) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const auto kind : all_disturbances()) {
      const auto plan = chaos_plan(seed, 60, 8);
      EXPECT_TRUE(std::any_of(plan.disturbances.begin(), plan.disturbances.end(),
                              [&](const auto& next) { return next.kind == kind; }))
          << "seed " << seed << ": " << name_of(kind);
    }
}

TEST_F(Chaos, NoJobNoWorkAndNoGpuIsLost) {
  const auto seconds = static_cast<int>(number("LIVE_CHAOS_SECONDS", 0));
  const auto seed = number("LIVE_CHAOS_SEED", 1);
  if (seconds == 0) GTEST_SKIP() << "a minute or more: LIVE_CHAOS_SECONDS=60";
  auto options = small();
  options.slurm_conf.clear();
  ChaosDriver::prepare(options);
  start(options);
  ChaosDriver chaos(cluster(), seed, seconds);
  const auto ran = chaos.run();
  ASSERT_TRUE(ran.ok()) << ran.error().sentence << "; seed " << seed << "\n"
                        << fmt::format("{}", fmt::join(chaos.timeline(), "\n"));
  for (const auto& [what, count] : chaos.counts()) GTEST_LOG_(INFO) << count << " " << what;
  EXPECT_THAT(chaos.wrongs(), IsEmpty()) << "seed " << seed << ", timeline:\n"
                                         << fmt::format("{}", fmt::join(chaos.timeline(), "\n"));
}

}  // namespace
}  // namespace acrf::minicluster
