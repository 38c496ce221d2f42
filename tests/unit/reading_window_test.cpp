// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/reading_window.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

TEST(Counter, TheFirstValueAndADecreaseAreBaselines) {
  Counter counter;
  EXPECT_EQ(counter.increase(65'000), 0u);
  EXPECT_EQ(counter.increase(std::nullopt), 0u);
  EXPECT_EQ(counter.increase(65'001), 1u);
  EXPECT_EQ(counter.increase(3), 0u);
  EXPECT_EQ(counter.increase(7), 4u);
}

TEST(SlidingGrowth, CountsGrowthAndForgetsIt) {
  SlidingGrowth window(3600);
  EXPECT_EQ(window.observe(0, 1000), 0u);
  EXPECT_EQ(window.observe(10, 1050), 50u);
  EXPECT_EQ(window.observe(3609, std::nullopt), 50u);
  EXPECT_EQ(window.observe(3610, 1050), 0u);
}

TEST(SlidingGrowth, AResetOrAWrapIsANewBaseline) {
  SlidingGrowth window(3600);
  window.observe(0, 65'000);
  EXPECT_EQ(window.observe(10, 3), 0u);
  EXPECT_EQ(window.observe(20, 7), 4u);
}

TEST(CounterWindows, CountsTheWindowsThatReachALimit) {
  CounterWindows windows(3);
  windows.add(0, 5);
  windows.add(59, 5);
  windows.add(60, 1);
  EXPECT_EQ(windows.reaching(10), 1);
  EXPECT_EQ(windows.reaching(1), 2);
  windows.add(180, 0);  // the first is too old
  EXPECT_EQ(windows.reaching(1), 1);
}

TEST(CounterWindows, ForgetOldWindowsAndStandAClockThatGoesBack) {
  CounterWindows windows(3);
  windows.add(0, 1);
  windows.add(60, 1);
  windows.add(120, 1);
  EXPECT_EQ(windows.reaching(1), 3);
  windows.add(180, 0);
  EXPECT_EQ(windows.reaching(1), 2);
  windows.add(10, 5);
  EXPECT_EQ(windows.reaching(5), 1);
  windows.add(100'000, 0);
  EXPECT_EQ(windows.reaching(1), 0);
}

TEST(KOfN, HoldsAtKAndLetsGoWhenNoneIsLeft) {
  KOfN rule(2, 3);
  EXPECT_FALSE(rule.observe(true));
  EXPECT_FALSE(rule.observe(false));
  EXPECT_TRUE(rule.observe(true));
  EXPECT_TRUE(rule.observe(false));
  EXPECT_TRUE(rule.observe(false));
  EXPECT_FALSE(rule.observe(false));
}

TEST(MinuteRate, HoldsFromKMinutesOnUntilNoneIsLeft) {
  MinuteRate rate(10, 2, 3);
  EXPECT_FALSE(rate.observe(0, 0));
  EXPECT_FALSE(rate.observe(30, 100));
  EXPECT_FALSE(rate.observe(60, 109));  // one short of the limit
  EXPECT_TRUE(rate.observe(70, 110));
  EXPECT_TRUE(rate.observe(180, 110));  // the last bad minute is still in sight
  EXPECT_FALSE(rate.observe(240, 110));
}

TEST(Persistent, NeedsTwoLooksAndTheTimeBetweenThem) {
  Persistent down(30);
  EXPECT_FALSE(down.update(0, true));
  EXPECT_FALSE(down.update(29, true));
  EXPECT_TRUE(down.update(30, true));
  EXPECT_FALSE(down.update(31, false));
  EXPECT_FALSE(down.update(90, true));
}

}  // namespace
}  // namespace acrf
