// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/progress_report.h"

#include <gmock/gmock.h>

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
