// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/checkpoint_resume.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "common/checkpoint_publish.h"
#include "common/directory_lock.h"
#include "common/file.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

class CheckpointResume : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string name : {"step-1", "step-2"}) {
      directory_.write(name + "/weights", "x");
      ASSERT_TRUE(seal_checkpoint(directory_.path(name)).ok());
    }
  }
  std::optional<std::string> resume(unsigned restart) {
    return resume_checkpoint(directory_.path(), CheckpointFormat::kAuto, 7, restart);
  }
  bool exists(const std::string& name) { return std::filesystem::exists(directory_.path(name)); }

  TemporaryDirectory directory_;
};

TEST_F(CheckpointResume, AfterTwoRestartsTheOneBeforeIsTaken) {
  for (const unsigned restart : {0u, 1u, 1u, 1u, 2u, 2u})
    EXPECT_EQ(resume(restart), directory_.path("step-2")) << restart;
  EXPECT_EQ(resume(3), directory_.path("step-1"));
  EXPECT_EQ(resume(3), directory_.path("step-1"));
  EXPECT_EQ(*read_file(directory_.path(".acrf-resumed")), "7 1 step-2\n7 2 step-2\n7 3 step-1\n");
}

TEST_F(CheckpointResume, AFirstRunLeavesNoTrace) {
  EXPECT_EQ(resume(0), directory_.path("step-2"));
  EXPECT_FALSE(exists(".acrf-resumed"));
  EXPECT_FALSE(exists(".acrf-fence"));
}

TEST_F(CheckpointResume, ARestartShutsOutEarlierWriters) {
  EXPECT_EQ(resume(2), directory_.path("step-2"));
  EXPECT_EQ(read_fences(directory_.path()), (std::vector<Fence>{{7, 2}}));
  directory_.write("step-3/weights", "x");
  const auto published = publish_checkpoint({directory_.path("step-3"), "", "", Fence{7, 1}});
  ASSERT_FALSE(published.ok());
  EXPECT_EQ(published.error().code, ErrorCode::kDenied);
  EXPECT_FALSE(exists("step-3/acrf-manifest"));
}

TEST_F(CheckpointResume, UnreadableNotesAreNoHistory) {
  directory_.write(".acrf-resumed", std::string("\xff\0\n7 1", 6));
  EXPECT_EQ(resume(3), directory_.path("step-2"));
  std::filesystem::remove(directory_.path(".acrf-resumed"));
  std::filesystem::create_directory(directory_.path(".acrf-resumed"));
  EXPECT_EQ(resume(4), directory_.path("step-2"));
}

TEST_F(CheckpointResume, WhereNothingCanBeWrittenTheJobResumesAllTheSame) {
  // Holds for root too, unlike permissions.
  std::filesystem::create_directory(directory_.path(".acrf-lock"));
  EXPECT_EQ(resume(1), directory_.path("step-2"));
  EXPECT_FALSE(exists(".acrf-resumed"));
}

TEST_F(CheckpointResume, ALockThatStaysHeldDelaysOnlyForASecond) {
  const auto lock = DirectoryLock::take(directory_.path(), std::chrono::milliseconds(0));
  ASSERT_TRUE(lock.ok());
  EXPECT_EQ(resume(1), directory_.path("step-2"));
  EXPECT_FALSE(exists(".acrf-fence"));
}

TEST_F(CheckpointResume, NoCheckpointIsAnAnswerAndStillRaisesTheFence) {
  const TemporaryDirectory empty;
  EXPECT_EQ(resume_checkpoint(empty.path(), CheckpointFormat::kAuto, 7, 1), std::nullopt);
  EXPECT_EQ(read_fences(empty.path()), (std::vector<Fence>{{7, 1}}));
  EXPECT_EQ(resume_checkpoint(empty.path("nowhere"), CheckpointFormat::kAuto, 7, 1), std::nullopt);
}

}  // namespace
}  // namespace acrf
