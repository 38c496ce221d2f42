// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/progress_report.h"

#include <gmock/gmock.h>

#include "common/progress_dir.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

using testing::ElementsAre;

TEST(ProgressReport, IsReadBackAndKeepsTheLastSteps) {
  RankReport report{3, "n7", {}};
  for (int step = 1; step <= 100; ++step) add_beat(report, {step, 1000 + step});
  EXPECT_EQ(report.beats.size(), 32U);
  const auto back = parse_rank_report(3, format_rank_report(report));
  EXPECT_EQ(back.node, "n7");
  EXPECT_EQ(back.beats, report.beats);
}

TEST(ProgressReport, BeginsAnewWhenTheJobWentBack) {
  RankReport report{0, "n1", {}};
  add_beat(report, {10, 1});
  add_beat(report, {5, 2});
  EXPECT_THAT(report.beats, ElementsAre(Heartbeat{5, 2}));
}

TEST(ProgressReport, HalfAFileIsReadAsFarAsItGoes) {
  const auto report = parse_rank_report(0, "n1\n1 100\n2 2");
  EXPECT_THAT(report.beats, ElementsAre(Heartbeat{1, 100}, Heartbeat{2, 2}));
  EXPECT_TRUE(parse_rank_report(0, "").beats.empty());
  EXPECT_TRUE(parse_rank_report(0, "n1\nnonsense\n1\n").beats.empty());
}

std::vector<RankReport> three_ranks(int steps) {
  std::vector<RankReport> reports = {{0, "n1", {}}, {1, "n2", {}}, {2, "n3", {}}};
  for (auto& report : reports)
    for (int step = 1; step <= steps; ++step) add_beat(report, {step, 1000 * step});
  return reports;
}

TEST(ProgressReport, TheRankThatStoppedFirstIsNamed) {
  auto reports = three_ranks(20);
  add_beat(reports[0], {21, 21'000});
  add_beat(reports[2], {21, 21'100});
  ProgressWatch watch(ProgressRules{});
  note_reports(watch, reports);
  EXPECT_EQ(word_for(watch.judge(30), reports), std::nullopt) << "not yet";
  const auto word = word_for(watch.judge(100), reports);
  ASSERT_TRUE(word);
  EXPECT_TRUE(word->hangs);
  EXPECT_EQ(word->step, 21);
  EXPECT_THAT(word->nodes, ElementsAre("n2"));
}

TEST(ProgressReport, TheOrderOfFilesDoesNotMatter) {
  // Rank 0's file is read first, and it is the slow one: 0.8 s behind at each step of one second.
  auto reports = three_ranks(32);
  for (auto& beat : reports[0].beats) beat.unix_ms += 800;
  ProgressRules rules;
  rules.straggler_s = 10;
  ProgressWatch watch(rules);
  note_reports(watch, reports);
  const auto word = word_for(watch.judge(33), reports);
  ASSERT_TRUE(word);
  EXPECT_FALSE(word->hangs);
  EXPECT_THAT(word->nodes, ElementsAre("n1"));
}

class ProgressFailover : public testing::Test {
 protected:
  // That many ranks of the step have done `steps` steps of a second each.
  void report(const std::string& fence, int ranks, int steps, std::int64_t from_ms) {
    for (int rank = 0; rank < ranks; ++rank) {
      RankReport report{rank, fence + "-n" + std::to_string(rank), {}};
      for (int step = 1; step <= steps; ++step) add_beat(report, {step, from_ms + 1000 * step});
      directory_.write(".acrf-progress/" + fence + "-" + std::to_string(rank),
                       format_rank_report(report));
    }
  }
  StepReports read(const Fence& fence) { return read_reports(directory_.path(), fence); }

  TemporaryDirectory directory_;
};

TEST_F(ProgressFailover, TheReportsAreThoseOfTheLastStepOfTheRestart) {
  report("7.1", 3, 20, 0);
  EXPECT_EQ(read({7, 1}).fence, (Fence{7, 1}));
  EXPECT_EQ(read({7, 1}).ranks.size(), 3U);
  report("7.1.10", 2, 1, 50'000);
  report("7.1.9", 3, 5, 30'000);
  for (const char* other : {"7.2", "7.2.11", "7.0.12", "71.1.13", "8.1.14"})
    report(other, 1, 30, 0);
  const auto last = read({7, 1});
  EXPECT_EQ(last.fence, (Fence{7, 1, 10}));
  ASSERT_EQ(last.ranks.size(), 2U);
  for (const auto& rank : last.ranks) EXPECT_EQ(rank.node, "7.1.10-n" + std::to_string(rank.rank));
}

TEST_F(ProgressFailover, AWatcherOfALaterStepDoesNotLookBack) {
  report("7.1", 3, 20, 0);
  report("7.1.1", 3, 20, 30'000);
  EXPECT_EQ(read({7, 1, 2}).fence, (Fence{7, 1, 2}));
  EXPECT_TRUE(read({7, 1, 2}).ranks.empty()) << "its own ranks have not begun";
  EXPECT_EQ(read({7, 1, 1}).ranks.size(), 3U);
  report("7.1.3", 2, 1, 60'000);
  EXPECT_EQ(read({7, 1, 1}).fence, (Fence{7, 1, 3})) << "its own step has been ended since";
}

TEST_F(ProgressFailover, ANewStepIsKnownByTheFenceBeforeItsRanksReport) {
  FailoverWatch watch(ProgressRules{});
  report("7.1", 3, 20, 0);
  EXPECT_FALSE(watch.judge(read({7, 1}), 21).hangs);
  directory_.write(".acrf-fence", "8.1.4\n7.1.1\n");
  EXPECT_EQ(read({7, 1}).fence, (Fence{7, 1, 1}));
  EXPECT_FALSE(watch.judge(read({7, 1}), 1000).hangs) << "it may load its checkpoint for long";
  directory_.write(".acrf-fence", "7.2\n");
  EXPECT_EQ(read({7, 1}).fence, (Fence{7, 1})) << "a later restart is another job script's";
}

TEST_F(ProgressFailover, ANewStepIsNotJudgedByTheOneBefore) {
  FailoverWatch watch(ProgressRules{});
  report("7.0", 3, 20, 0);
  EXPECT_FALSE(watch.judge(read({7, 0}), 21).hangs);
  // The old step's ranks stopped at 20 s; the new one has gone back to its first steps.
  report("7.0.1", 2, 3, 60'000);
  EXPECT_FALSE(watch.judge(read({7, 0}), 100).hangs);
  EXPECT_FALSE(watch.judge(read({7, 0}), 1000).hangs) << "too few steps to know what is usual";
  report("7.0.1", 2, 30, 960'000);
  EXPECT_FALSE(watch.judge(read({7, 0}), 1000).hangs);
}

TEST_F(ProgressFailover, AHangOfTheNewStepIsSeenAndIsItsOwn) {
  FailoverWatch watch(ProgressRules{});
  report("7.0", 3, 20, 0);
  EXPECT_FALSE(watch.judge(read({7, 0}), 21).hangs);
  report("7.0.1", 2, 20, 60'000);
  report("7.0.1", 1, 21, 60'000);
  EXPECT_FALSE(watch.judge(read({7, 0}), 82).hangs);
  const auto verdict = watch.judge(read({7, 0}), 150);
  EXPECT_TRUE(verdict.hangs);
  EXPECT_THAT(verdict.suspects, ElementsAre(1)) << "rank 2 is of the step before";
}

TEST(ProgressReport, TheWordIsReadBackAndTakenOut) {
  const ProgressWord word{true, 120, {"n3", "n4"}};
  const auto comment = with_progress("mine acrf-run:can-lose=1", word);
  EXPECT_EQ(comment, "mine acrf-run:can-lose=1 acrf-progress:hang,step=120,nodes=n[3-4]");
  EXPECT_EQ(find_progress(comment), word);
  EXPECT_EQ(with_progress(comment, std::nullopt), "mine acrf-run:can-lose=1");
  for (const char* bad : {"", "acrf-progress:", "acrf-progress:late,step=1,nodes=n1",
                          "acrf-progress:hang,nodes=n1", "acrf-progress:slow,step=1,nodes="})
    EXPECT_EQ(find_progress(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace acrf
