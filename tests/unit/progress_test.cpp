// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/progress.h"

#include <gmock/gmock.h>

namespace acrf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ProgressRules quick() {
  ProgressRules rules;
  rules.hang_floor_s = 5;
  rules.straggler_s = 10;
  return rules;
}

// Four ranks do `steps` steps of a second each; rank 2 comes `late_s` after the others.
double train(ProgressWatch& watch, int steps, double late_s) {
  double now_s = 1000;
  for (int step = 1; step <= steps; ++step) {
    now_s += 1;
    for (const int rank : {0, 1, 3}) watch.note(rank, step, now_s);
    watch.note(2, step, now_s + late_s);
  }
  return now_s;
}

TEST(Progress, TheRankThatStoppedFirstIsTheSuspectOfAHang) {
  ProgressWatch watch(quick());
  const double now_s = train(watch, 20, 0);
  for (const int rank : {0, 1, 3}) watch.note(rank, 21, now_s + 1);  // then they wait for rank 2
  EXPECT_FALSE(watch.judge(now_s + 10).hangs) << "ten times a step, not more";
  const auto verdict = watch.judge(now_s + 11.5);
  EXPECT_TRUE(verdict.hangs);
  EXPECT_THAT(verdict.suspects, ElementsAre(2));
}

TEST(Progress, NobodyIsBlamedWhenAllStopAtTheSameStep) {
  ProgressWatch watch(quick());
  const double now_s = train(watch, 20, 0);
  const auto verdict = watch.judge(now_s + 100);
  EXPECT_TRUE(verdict.hangs);
  EXPECT_THAT(verdict.suspects, IsEmpty());
}

TEST(Progress, ALongStepAmongShortOnesIsNoHang) {
  ProgressRules rules;  // a minute at least: a checkpoint, a validation
  ProgressWatch watch(rules);
  const double now_s = train(watch, 20, 0);
  EXPECT_FALSE(watch.judge(now_s + 59).hangs);
}

TEST(Progress, WithoutReportsNothingIsJudged) {
  ProgressWatch watch(quick());
  EXPECT_FALSE(watch.judge(1e9).hangs);
  watch.note(0, 1, 5);
  watch.note(0, 2, 6);
  EXPECT_FALSE(watch.judge(1e9).hangs) << "too few steps to know what is usual";
}

TEST(Progress, ARankThatComesLateForLongIsAStraggler) {
  ProgressWatch slow(quick());
  const double now_s = train(slow, 40, 0.7);
  EXPECT_THAT(slow.judge(now_s + 1).stragglers, ElementsAre(2));
  ProgressWatch brief(quick());
  train(brief, 12, 0.7);
  EXPECT_THAT(brief.judge(1013).stragglers, IsEmpty()) << "not for long enough";
  ProgressWatch usual(quick());
  train(usual, 40, 0.3);
  EXPECT_THAT(usual.judge(1041).stragglers, IsEmpty()) << "not late enough";
}

TEST(Progress, ARankThatIsFarBehindIsAStragglerToo) {
  ProgressWatch watch(quick());
  for (int step = 1; step <= 60; ++step) {
    for (const int rank : {0, 1, 3}) watch.note(rank, step, 1000 + step);
    if (step % 3 == 0) watch.note(2, step / 3, 1000 + step);
  }
  EXPECT_THAT(watch.judge(1061).stragglers, ElementsAre(2));
}

TEST(Progress, OneGoodStepClearsAStraggler) {
  ProgressWatch watch(quick());
  const double now_s = train(watch, 40, 0.7);
  for (const int rank : {0, 1, 2, 3}) watch.note(rank, 41, now_s + 2);
  EXPECT_THAT(watch.judge(now_s + 2).stragglers, IsEmpty());
}

TEST(Progress, OldNewsIsIgnored) {
  ProgressWatch watch(quick());
  const double now_s = train(watch, 20, 0);
  watch.note(0, 3, now_s + 50);
  EXPECT_TRUE(watch.judge(now_s + 51).hangs);
}

}  // namespace
}  // namespace acrf
