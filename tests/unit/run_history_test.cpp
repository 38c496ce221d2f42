// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/run_history.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

TEST(RunHistory, IsReadBackAsItWasWritten) {
  auto comment =
      with_run("bob acrf:policy=requeue", 100, {110, 150, RequeueCause::kHardware, "gpu-n3"});
  comment = with_run(comment, 150, {152, 200, RequeueCause::kOther, ""});
  EXPECT_EQ(comment,
            "bob acrf:policy=requeue "
            "acrf-runs:submitted=100,110-150-hardware-gpu-n3,152-200-other-");
  const auto history = find_run_history(comment);
  EXPECT_EQ(history.submitted_unix_s, 100);
  ASSERT_EQ(history.runs.size(), 2U);
  EXPECT_EQ(history.runs[0], (PastRun{110, 150, RequeueCause::kHardware, "gpu-n3"}));
  EXPECT_EQ(history.runs[1], (PastRun{152, 200, RequeueCause::kOther, ""}));
}

TEST(RunHistory, KeepsTheLastOnes) {
  std::string comment;
  for (int i = 1; i <= 40; ++i) comment = with_run(comment, 1, {i, i, RequeueCause::kNode, "n"});
  const auto history = find_run_history(comment);
  EXPECT_EQ(history.runs.size(), 16U);
  EXPECT_EQ(history.runs.back().start_unix_s, 40);
  EXPECT_EQ(history.submitted_unix_s, 1);
}

TEST(RunHistory, ADamagedWordIsNone) {
  for (const char* word : {"", "acrf-runs:", "acrf-runs:submitted=x", "acrf-runs:submitted=1,2",
                           "acrf-runs:submitted=1,2-3-gremlins-n1", "acrf-runs:1-2-node-n1"})
    EXPECT_EQ(find_run_history(word), RunHistory{}) << word;
}

}  // namespace
}  // namespace acrf
