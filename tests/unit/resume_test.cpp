// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/resume.h"

#include <gtest/gtest.h>

#include "common/checkpoint_dir.h"
#include "common/checkpoint_seal.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

class Resume : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string name : {"step-1", "step-2", "step-3"}) add(name);
  }
  void add(const std::string& name) {
    directory_.write(name + "/weights", "x");
    ASSERT_TRUE(seal_checkpoint(directory_.path(name)).ok());
  }
  std::optional<std::string> choose(const std::vector<ResumeRecord>& history, unsigned restart) {
    const CheckpointDir files(directory_.path());
    return choose_resume(CheckpointJudge(files, CheckpointFormat::kAuto), history, 7, restart);
  }

  TemporaryDirectory directory_;
};

TEST_F(Resume, TwoRestartsFromTheNewestAreAllowed) {
  EXPECT_EQ(choose({}, 1), "step-3");
  EXPECT_EQ(choose({{7, 1, "step-3"}}, 2), "step-3");
  EXPECT_EQ(choose({{7, 1, "step-3"}, {7, 2, "step-3"}}, 3), "step-2");
}

TEST_F(Resume, WithinOneRestartTheAnswerStays) {
  const std::vector<ResumeRecord> history = {{7, 1, "step-3"}, {7, 2, "step-3"}};
  EXPECT_EQ(choose(history, 2), "step-3");
  EXPECT_EQ(choose({{7, 1, "step-3"}, {7, 1, "step-3"}, {7, 1, "step-3"}}, 2), "step-3");
  EXPECT_EQ(choose({{7, 1, "step-3"}, {7, 2, "step-3"}, {7, 3, "step-2"}}, 3), "step-2");
}

TEST_F(Resume, GoesBackOneByOneAndAtLastTakesTheNewest) {
  std::vector<ResumeRecord> history = {
      {7, 1, "step-3"}, {7, 2, "step-3"}, {7, 3, "step-2"}, {7, 4, "step-2"}};
  EXPECT_EQ(choose(history, 5), "step-1");
  history.insert(history.end(), {{7, 5, "step-1"}, {7, 6, "step-1"}});
  EXPECT_EQ(choose(history, 7), "step-3");
}

TEST_F(Resume, ANewerCheckpointIsProgress) {
  const std::vector<ResumeRecord> history = {{7, 1, "step-2"}, {7, 2, "step-2"}};
  EXPECT_EQ(choose(history, 3), "step-3");
}

TEST_F(Resume, ACheckpointThatLedToANewerOneIsTrustedAgain) {
  const std::vector<ResumeRecord> history = {
      {7, 1, "step-2"}, {7, 2, "step-2"}, {7, 3, "step-3"}, {7, 4, "step-3"}};
  EXPECT_EQ(choose(history, 5), "step-2");
}

TEST_F(Resume, OtherJobsAndFirstRunsDoNotCount) {
  EXPECT_EQ(choose({{8, 1, "step-3"}, {8, 2, "step-3"}}, 3), "step-3");
  EXPECT_EQ(choose({{7, 0, "step-3"}, {7, 1, "step-3"}}, 2), "step-3");
}

TEST_F(Resume, IncompleteOnesAreNoWayBack) {
  directory_.write("step-2/weights", "longer");
  EXPECT_EQ(choose({{7, 1, "step-3"}, {7, 2, "step-3"}}, 3), "step-1");
}

TEST(ResumeHistory, KeepsTheLast32AndNamesWithBlanks) {
  std::vector<ResumeRecord> history;
  for (unsigned i = 1; i <= 40; ++i) history.push_back({7, i, "a name " + std::to_string(i)});
  const auto kept = parse_resume_history(format_resume_history(history));
  ASSERT_EQ(kept.size(), 32u);
  EXPECT_EQ(kept.front(), history[8]);
  EXPECT_EQ(kept.back(), history.back());
}

TEST(ResumeHistory, NonsenseIsLeftOut) {
  const auto history =
      parse_resume_history("7 1 a\n\nx\n7\n7 1\n7 1 \n7 99999999999 b\n-7 1 c\n7 2 d");
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[1].name, "d");
}

}  // namespace
}  // namespace acrf
