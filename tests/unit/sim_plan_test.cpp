// SPDX-License-Identifier: GPL-2.0-or-later
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tools/acrf-sim/plan.h"

namespace acrf::sim {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

constexpr std::int64_t kHour = 3'600'000;

std::vector<PlannedJob> jobs_in(const std::vector<PlannedEvent>& events) {
  std::vector<PlannedJob> jobs;
  for (const auto& event : events)
    if (const auto* job = std::get_if<PlannedJob>(&event)) jobs.push_back(*job);
  return jobs;
}

std::vector<PlannedFault> faults_in(const std::vector<PlannedEvent>& events) {
  std::vector<PlannedFault> faults;
  for (const auto& event : events)
    if (const auto* fault = std::get_if<PlannedFault>(&event)) faults.push_back(*fault);
  return faults;
}

TEST(SimPlan, TheSameSeedGivesTheSamePlanHoweverOftenItIsAsked) {
  Planner at_once(7, 8, 8, {}), bit_by_bit(7, 8, 8, {});
  const auto whole = at_once.until(kHour / 6);
  std::vector<PlannedEvent> parts;
  for (std::int64_t ms = 0; ms <= kHour / 6; ms += 100)
    for (auto& event : bit_by_bit.until(ms)) parts.push_back(event);
  EXPECT_EQ(whole, parts);
  EXPECT_GT(whole.size(), 50u);
  Planner other(8, 8, 8, {});
  EXPECT_NE(other.until(kHour / 6), whole);
}

TEST(SimPlan, JobsComeAtTheirRate) {
  for (const auto& preset : presets()) {
    PlanSettings settings;
    settings.rate_per_min = preset.rate_per_min;
    Planner planner(3, 8, 8, settings);
    const double expected = preset.rate_per_min * 60 * 20;
    const auto jobs = jobs_in(planner.until(20 * kHour));
    EXPECT_NEAR(double(jobs.size()), expected, expected * 0.1) << preset.name;
  }
}

TEST(SimPlan, EveryNodeFailsAtARateOfItsOwnWithinTheRange) {
  Planner planner(5, 8, 8, {});
  std::vector<double> counts(8, 0);
  const int hours = 40;
  for (const auto& fault : faults_in(planner.until(hours * kHour)))
    ++counts[std::size_t(fault.node)];
  std::set<double> percents;
  for (int node = 0; node < 8; ++node) {
    const double percent = planner.failure_percent(node);
    EXPECT_THAT(percent, AllOf(Ge(5), Le(12)));
    percents.insert(percent);
    const double a_minute = counts[std::size_t(node)] / (60.0 * hours);
    EXPECT_NEAR(1 - std::exp(-a_minute), percent / 100, 0.02) << node;
  }
  EXPECT_EQ(percents.size(), 8u);
}

TEST(SimPlan, WhatIsPlannedFitsTheCluster) {
  Planner planner(11, 4, 2, {});
  std::set<std::string> kinds, types;
  for (const auto& event : planner.until(20 * kHour)) {
    if (const auto* job = std::get_if<PlannedJob>(&event)) {
      types.insert(job->type);
      EXPECT_THAT(job->nodes, AllOf(Ge(1), Le(2)));
      EXPECT_THAT(job->gpus, AllOf(Ge(1), Le(2)));
      EXPECT_THAT(job->seconds, AllOf(Ge(8), Le(40)));
      continue;
    }
    const auto& fault = std::get<PlannedFault>(event);
    kinds.insert(fault.kind);
    EXPECT_THAT(fault.node, AllOf(Ge(0), Le(3)));
    EXPECT_THAT(fault.gpu, AllOf(Ge(0), Le(1)));
    ASSERT_TRUE(find_fault_kind(fault.kind));
  }
  EXPECT_EQ(types.size(), built_in_types().size());
  EXPECT_EQ(kinds.size(), fault_kinds().size());
}

TEST(SimPlan, NothingComesWhilePausedAndNothingIsMadeUpForAfterwards) {
  PlanSettings settings;
  Planner planner(1, 8, 8, settings);
  planner.until(kHour);
  settings.paused = true;
  planner.change(kHour, settings);
  EXPECT_TRUE(planner.until(3 * kHour).empty());
  settings.paused = false;
  planner.change(3 * kHour, settings);
  const auto after = planner.until(4 * kHour);
  ASSERT_FALSE(after.empty());
  EXPECT_GE(time_of(after.front()), 3 * kHour);
  EXPECT_LT(jobs_in(after).size(), 500u);  // 360 an hour
}

TEST(SimPlan, AChangedRateHoldsFromThen) {
  PlanSettings settings;
  settings.rate_per_min = 0.1;
  Planner planner(1, 8, 8, settings);
  planner.until(kHour);
  settings.rate_per_min = 50;
  planner.change(kHour, settings);
  EXPECT_NEAR(double(jobs_in(planner.until(2 * kHour)).size()), 3000, 200);
}

TEST(SimPlan, ATypeOfWeightZeroIsNotDrawn) {
  PlanSettings settings;
  for (auto& type : settings.types) type.weight = type.name == "matrix";
  Planner planner(1, 8, 8, settings);
  for (const auto& job : jobs_in(planner.until(5 * kHour))) EXPECT_EQ(job.type, "matrix");
}

TEST(SimPlan, ReadsRangesAndPresets) {
  EXPECT_EQ(parse_range("5-12", 0, 90), (Range{5, 12}));
  EXPECT_EQ(parse_range("7.5", 0, 90), (Range{7.5, 7.5}));
  for (const auto* bad : {"", "-", "12-5", "5-", "-5", "5-91", "a", "5-b", "1.2.3", "5 - 6"})
    EXPECT_FALSE(parse_range(bad, 0, 90)) << bad;
  ASSERT_TRUE(find_preset("maximum"));
  EXPECT_EQ(find_preset("maximum")->rate_per_min, 50);
  EXPECT_FALSE(find_preset("ludicrous"));
}

}  // namespace
}  // namespace acrf::sim
