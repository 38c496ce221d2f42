// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/job_life.h"

#include <gmock/gmock.h>

namespace acrf {
namespace {

using testing::ElementsAre;

std::vector<std::string> words(const JobLife& life) {
  std::vector<std::string> lines;
  for (const auto& event : life.events)
    lines.push_back(std::to_string(event.unix_ms / 1000) + " " + event.what + ": " + event.text);
  return lines;
}

// Ran from 100 to 200, lost n3, ran again from 204 on; now it is 304.
LifeSources once_requeued() {
  LifeSources sources;
  sources.job.id = 7;
  sources.job.state = "RUNNING";
  sources.job.submit_unix_s = 201;
  sources.job.start_unix_s = 204;
  sources.job.restarts = 1;
  sources.job.nodes = "n[1,4]";
  sources.job.admin_comment = with_run("acrf:policy=requeue,max-requeues=8,checkpoint-dir=/c", 90,
                                       {100, 200, RequeueCause::kHardware, "n3"});
  sources.now_unix_s = 304;
  sources.checkpoints = {{"step-5", 150, 5}, {"step-9", 190, 9}};
  sources.resumed = {{7, 1, "step-9"}};
  return sources;
}

TEST(JobLife, TellsItInOrder) {
  auto sources = once_requeued();
  sources.others = {{200'500, "placed", "as planned"}};
  EXPECT_THAT(
      words(tell_life(sources)),
      ElementsAre("90 submitted: policy requeue", "100 started: run 0", "150 checkpoint: step-5",
                  "190 checkpoint: step-9", "200 requeued: run 0 ended, cause hardware, node n3",
                  "200 placed: as planned", "204 started: run 1 on n[1,4]",
                  "204 resumed: run 1 from step-9"));
}

TEST(JobLife, LosesWhatLiesBehindTheCheckpointAndTheWaiting) {
  const auto life = tell_life(once_requeued());
  EXPECT_DOUBLE_EQ(life.wall_s, 204);
  EXPECT_DOUBLE_EQ(life.waiting_s, 4);
  EXPECT_DOUBLE_EQ(life.redone_s, 10);
  EXPECT_DOUBLE_EQ(life.useful_s, 190);
  ASSERT_TRUE(life.ettr);
  EXPECT_DOUBLE_EQ(*life.ettr, 190.0 / 204);
  EXPECT_TRUE(life.complete);
}

TEST(JobLife, CountsStepsOnlyWhereRunsSaidHowFarTheyCame) {
  auto sources = once_requeued();
  EXPECT_EQ(tell_life(sources).steps_lost, std::nullopt);
  sources.reached = {{0, 12}, {1, 20}};
  EXPECT_EQ(tell_life(sources).steps_lost, 3);
  sources.resumed.clear();
  EXPECT_EQ(tell_life(sources).steps_lost, 12) << "from the beginning";
}

TEST(JobLife, WithoutACheckpointTheWholeRunIsDoneAgain) {
  auto sources = once_requeued();
  sources.resumed.clear();
  EXPECT_DOUBLE_EQ(tell_life(sources).redone_s, 100);
}

TEST(JobLife, ACheckpointOfAnEarlierRunSavesNothingOfThisOne) {
  auto sources = once_requeued();
  sources.checkpoints[1].published_unix_s = 50;
  EXPECT_DOUBLE_EQ(tell_life(sources).redone_s, 100);
}

TEST(JobLife, WhatWasServedIsServed) {
  auto sources = once_requeued();
  sources.job.admin_comment = with_run("acrf:policy=requeue,workload=inference", 90,
                                       {100, 200, RequeueCause::kHardware, "n3"});
  EXPECT_DOUBLE_EQ(tell_life(sources).redone_s, 0);
}

TEST(JobLife, AJobThatNeverRanHasNoRatio) {
  LifeSources sources;
  sources.job.submit_unix_s = 90;
  sources.now_unix_s = 100;
  const auto life = tell_life(sources);
  EXPECT_FALSE(life.ettr);
  EXPECT_THAT(words(life), ElementsAre("90 submitted: no policy"));
}

TEST(JobLife, SaysWhenRunsAreForgotten) {
  auto sources = once_requeued();
  sources.job.restarts = 3;
  EXPECT_FALSE(tell_life(sources).complete);
}

TEST(JobLife, AJobThatWaitsGoesOnLosingTime) {
  auto sources = once_requeued();
  sources.job.start_unix_s = 0;
  sources.job.state = "PENDING";
  const auto life = tell_life(sources);
  EXPECT_DOUBLE_EQ(life.wall_s, 204);
  EXPECT_DOUBLE_EQ(life.waiting_s, 104);
}

}  // namespace
}  // namespace acrf
