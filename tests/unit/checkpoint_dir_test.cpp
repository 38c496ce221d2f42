// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/checkpoint_dir.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "temporary_directory.h"

namespace acrf {
namespace {

TEST(CheckpointDir, ASealedCheckpointIsFound) {
  const TemporaryDirectory directory;
  directory.write("step-5/shards/rank-0", "0123456789");
  directory.write("step-5/step", "5\n");
  EXPECT_EQ(newest_checkpoint(directory.path()), std::nullopt);
  ASSERT_TRUE(seal_checkpoint(directory.path("step-5")).ok());
  EXPECT_EQ(newest_checkpoint(directory.path()), directory.path("step-5"));
}

TEST(CheckpointDir, DamageAfterSealingIsNoticed) {
  const TemporaryDirectory directory;
  for (const auto step : {"step-1", "step-2", "step-3"}) {
    directory.write(std::string(step) + "/weights", "0123456789");
    ASSERT_TRUE(seal_checkpoint(directory.path(step)).ok());
  }
  directory.write("step-3/weights", "012345678");
  EXPECT_EQ(newest_checkpoint(directory.path()), directory.path("step-2"));
  std::filesystem::remove(directory.path("step-2/weights"));
  EXPECT_EQ(newest_checkpoint(directory.path()), directory.path("step-1"));
  // A link to something of the right size is not the file that was sealed.
  directory.write("elsewhere", "0123456789");
  std::filesystem::remove(directory.path("step-1/weights"));
  std::filesystem::create_symlink(directory.path("elsewhere"), directory.path("step-1/weights"));
  EXPECT_EQ(newest_checkpoint(directory.path()), std::nullopt);
}

TEST(CheckpointDir, FilesAndHiddenDirectoriesAreNoCheckpoints) {
  const TemporaryDirectory directory;
  directory.write("step-9", "a file");
  directory.write(".step-8/weights", "x");
  ASSERT_TRUE(seal_checkpoint(directory.path(".step-8")).ok());
  EXPECT_EQ(newest_checkpoint(directory.path()), std::nullopt);
}

TEST(CheckpointDir, MissingAndEmptyDirectoriesAreCalm) {
  const TemporaryDirectory directory;
  EXPECT_EQ(newest_checkpoint(directory.path("nowhere")), std::nullopt);
  EXPECT_FALSE(seal_checkpoint(directory.path("nowhere")).ok());
  EXPECT_FALSE(seal_checkpoint(directory.path()).ok());
}

}  // namespace
}  // namespace acrf
