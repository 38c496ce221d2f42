// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/requeue_budget.h"

#include <gmock/gmock.h>

namespace acrf {
namespace {

using testing::HasSubstr;

const RequeueBudget kBudget = {{2, 3, 4, 9}, 30};

TEST(RequeueBudget, EachCauseHasItsOwn) {
  RequeueCount count;
  for (int restart = 1; restart <= 4; ++restart)
    EXPECT_EQ(count_requeue(count, restart, RequeueCause::kPreemption, kBudget, {}).step,
              RequeueStep::kRelease);
  EXPECT_EQ(count_requeue(count, 5, RequeueCause::kHardware, kBudget, {}).step,
            RequeueStep::kRelease);
  EXPECT_EQ(count_requeue(count, 6, RequeueCause::kHardware, kBudget, {}).step,
            RequeueStep::kRelease);
  const auto over = count_requeue(count, 7, RequeueCause::kHardware, kBudget, {});
  EXPECT_EQ(over.step, RequeueStep::kHold);
  EXPECT_EQ(over.reason, "ACRF: no restart left of 2 because of hardware");
  EXPECT_EQ(count.seen, 7);
}

TEST(RequeueBudget, AnAdminsRequeueCountsForNothing) {
  RequeueCount count;
  for (int restart = 1; restart < 100; ++restart)
    EXPECT_EQ(count_requeue(count, restart, RequeueCause::kOther, kBudget, {}).step,
              RequeueStep::kRelease);
  EXPECT_EQ(count.by_cause, (std::array{0, 0, 0, 0}));
}

TEST(RequeueBudget, TheSameFailureOnThreeNodesIsThePrograms) {
  RequeueCount count;
  const auto fails = [&](int status, const std::string& node) {
    return count_requeue(count, count.seen + 1, RequeueCause::kApplication, kBudget,
                         ProgramFailure{status, node});
  };
  EXPECT_EQ(fails(1, "n1").step, RequeueStep::kRelease);
  EXPECT_EQ(fails(1, "n1").step, RequeueStep::kRelease);
  EXPECT_EQ(fails(2, "n3").step, RequeueStep::kRelease);
  EXPECT_EQ(fails(1, "n2").step, RequeueStep::kRelease);
  const auto poison = fails(1, "n3");
  EXPECT_EQ(poison.step, RequeueStep::kHold);
  EXPECT_THAT(poison.reason, HasSubstr("status 1 on 3 different nodes"));
}

TEST(RequeueBudget, NinetyThreeMeansNoMore) {
  RequeueCount count;
  EXPECT_FALSE(may_retry(count, kBudget, 93));
  EXPECT_FALSE(may_retry(count, kBudget, 0));
  EXPECT_TRUE(may_retry(count, kBudget, 1));
  EXPECT_FALSE(may_retry(count, {{2, 3, 4, 0}, 30}, 1));
  const auto held =
      count_requeue(count, 1, RequeueCause::kApplication, kBudget, ProgramFailure{93, "n1"});
  EXPECT_EQ(held.step, RequeueStep::kHold);
}

TEST(RequeueBudget, WaitsLongerEachTimeButNotForHardware) {
  RequeueCount count;
  std::vector<int> waits;
  const RequeueBudget large = {{99, 99, 99, 99}, 30};
  for (int restart = 1; restart <= 10; ++restart)
    waits.push_back(count_requeue(count, restart, RequeueCause::kNode, large, {}).wait_s);
  EXPECT_THAT(waits, testing::ElementsAre(0, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600));
  for (const auto cause : {RequeueCause::kHardware, RequeueCause::kPreemption})
    for (int times = 0; times < 5; ++times)
      EXPECT_EQ(count_requeue(count, count.seen + 1, cause, large, {}).wait_s, 0);
}

TEST(RequeueBudget, TravelsInTheAdminCommentAmongOthersWords) {
  RequeueCount count;
  count.seen = 3;
  count.by_cause = {1, 0, 2, 4};
  count.failures = {{1, "n1"}, {137, "gpu-node.2"}};
  const std::string comment = "looked at  acrf:policy=requeue,max-requeues=8 acrf-avoid:n3";
  const auto first = with_requeue_count(comment, count);
  EXPECT_EQ(first, comment +
                       " acrf-requeues:seen=3,hardware=1,preemption=2,application=4,"
                       "failed=1@n1+137@gpu-node.2");
  EXPECT_EQ(find_requeue_count(first), count);
  count.by_cause[0] = 2;
  const auto second = with_requeue_count(first + " more", count);
  EXPECT_EQ(find_requeue_count(second), count);
  EXPECT_THAT(second, HasSubstr("looked at  acrf:policy=requeue"));
  EXPECT_THAT(second, HasSubstr(" more"));
  EXPECT_EQ(with_requeue_count("", {}), "acrf-requeues:seen=0");
}

TEST(RequeueBudget, ADamagedWordCountsAsNone) {
  for (const auto bad : {"acrf-requeues:", "acrf-requeues:hardware=x", "acrf-requeues:seen=1,x=2",
                         "acrf-requeues:failed=1", "acrf-requeues:seen=99999999999999999999",
                         "xacrf-requeues:seen=1", "acrf-requeues:seen=1,failed=300@n1"})
    EXPECT_EQ(find_requeue_count(bad), RequeueCount{}) << bad;
}

TEST(RequeueBudget, KeepsFewFailures) {
  RequeueCount count;
  const RequeueBudget large = {{99, 99, 99, 99}, 0};
  for (int i = 0; i < 50; ++i)
    count_requeue(count, i + 1, RequeueCause::kApplication, large, ProgramFailure{i, "n1"});
  EXPECT_EQ(count.failures.size(), 8u);
}

}  // namespace
}  // namespace acrf
