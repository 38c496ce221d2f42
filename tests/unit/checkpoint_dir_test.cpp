// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/checkpoint_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "common/checkpoint_seal.h"
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

TEST(CheckpointDir, NoLinkIsFollowedAnywhereOnTheWay) {
  const TemporaryDirectory directory, outside;
  outside.write("inner/weights", "secret");
  std::filesystem::create_directory_symlink(outside.path(), directory.path("link"));
  std::filesystem::create_directories(directory.path("step-1"));
  std::filesystem::create_directory_symlink(outside.path("inner"), directory.path("step-1/inner"));
  const CheckpointDir files(directory.path());
  EXPECT_EQ(files.size_of("link/inner/weights"), std::nullopt);
  EXPECT_EQ(files.read("step-1/inner/weights", 0, 10), std::nullopt);
  EXPECT_TRUE(files.list("link").empty());
  EXPECT_TRUE(files.list("step-1").empty());
  EXPECT_TRUE(files.list("..").empty());
  EXPECT_EQ(files.size_of("../" + std::filesystem::path(outside.path()).filename().string() +
                          "/inner/weights"),
            std::nullopt);
}

TEST(CheckpointDir, ThePathToTheDirectoryMayBeALink) {
  const TemporaryDirectory directory;
  directory.write("real/step-1/weights", "x");
  ASSERT_TRUE(seal_checkpoint(directory.path("real/step-1")).ok());
  std::filesystem::create_directory_symlink(directory.path("real"), directory.path("alias"));
  EXPECT_EQ(newest_checkpoint(directory.path("alias")), directory.path("alias/step-1"));
}

TEST(CheckpointDir, APipeHoldsNobodyUp) {
  const TemporaryDirectory directory;
  directory.write("step-1/weights", "x");
  ASSERT_EQ(::mkfifo(directory.path("step-1/acrf-manifest").c_str(), 0600), 0);
  EXPECT_EQ(CheckpointDir(directory.path()).read("step-1/acrf-manifest", 0, 10), std::nullopt);
  EXPECT_EQ(newest_checkpoint(directory.path()), std::nullopt);
}

TEST(CheckpointDir, TenThousandCheckpointsHaveANewest) {
  const TemporaryDirectory directory;
  for (int step = 1; step <= 10'000; ++step)
    std::filesystem::create_directory(directory.path("step-" + std::to_string(step)));
  directory.write("step-9998/weights", "x");
  ASSERT_TRUE(seal_checkpoint(directory.path("step-9998")).ok());
  EXPECT_EQ(newest_checkpoint(directory.path()), directory.path("step-9998"));
}

}  // namespace
}  // namespace acrf
