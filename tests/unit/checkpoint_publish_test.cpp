// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/checkpoint_publish.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "common/checkpoint_dir.h"
#include "common/directory_lock.h"
#include "common/file.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

Publication publication(const std::string& checkpoint, std::optional<Fence> fence) {
  return {checkpoint, "", "", fence};
}

TEST(CheckpointPublish, SealsAndRaisesTheFence) {
  const TemporaryDirectory directory;
  directory.write("step-1/weights", "x");
  ASSERT_TRUE(publish_checkpoint(publication(directory.path("step-1/"), Fence{7, 1})).ok());
  EXPECT_EQ(newest_checkpoint(directory.path()), directory.path("step-1"));
  EXPECT_EQ(read_fences(directory.path()), (std::vector<Fence>{{7, 1}}));
}

TEST(CheckpointPublish, WithoutAFenceItOnlySeals) {
  const TemporaryDirectory directory;
  directory.write("step-1/weights", "x");
  ASSERT_TRUE(publish_checkpoint(publication(directory.path("step-1"), std::nullopt)).ok());
  EXPECT_EQ(newest_checkpoint(directory.path()), directory.path("step-1"));
  EXPECT_TRUE(read_fences(directory.path()).empty());
}

TEST(CheckpointPublish, AFencedWriterChangesNothing) {
  const TemporaryDirectory directory;
  directory.write("step-1/weights", "new");
  ASSERT_TRUE(publish_checkpoint(publication(directory.path("step-1"), Fence{7, 2})).ok());
  directory.write(".draft/weights", "old");
  auto late = publication(directory.path(".draft"), Fence{7, 1});
  late.name = "step-1";
  const auto published = publish_checkpoint(late);
  ASSERT_FALSE(published.ok());
  EXPECT_EQ(published.error().code, ErrorCode::kDenied);
  EXPECT_EQ(*read_file(directory.path("step-1/weights")), "new");
  EXPECT_FALSE(std::filesystem::exists(directory.path(".draft/acrf-manifest")));
  EXPECT_EQ(read_fences(directory.path()), (std::vector<Fence>{{7, 2}}));
}

TEST(CheckpointPublish, MovesIntoPlaceAndReplaces) {
  const TemporaryDirectory directory;
  directory.write("step-1/weights", "damaged");
  directory.write("step-1/extra", "x");
  directory.write(".draft/weights", "new");
  auto request = publication(directory.path(".draft"), Fence{7, 1});
  request.name = "step-1";
  const auto published = publish_checkpoint(request);
  ASSERT_TRUE(published.ok()) << published.error().sentence;
  EXPECT_EQ(*published, directory.path("step-1"));
  EXPECT_EQ(*read_file(directory.path("step-1/weights")), "new");
  EXPECT_EQ(newest_checkpoint(directory.path()), directory.path("step-1"));
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".acrf-replaced")) << entry;
}

TEST(CheckpointPublish, NamesThatLeaveTheDirectoryAreRefused) {
  const TemporaryDirectory directory;
  directory.write(".draft/weights", "x");
  for (const auto name : {"../step-1", "a/b", ".hidden", ".."}) {
    auto request = publication(directory.path(".draft"), std::nullopt);
    request.name = name;
    EXPECT_FALSE(publish_checkpoint(request).ok()) << name;
  }
}

TEST(CheckpointPublish, TheFenceMayBeInAnotherDirectory) {
  const TemporaryDirectory directory;
  directory.write("a/b/weights", "x");
  ASSERT_TRUE(raise_fence(directory.path(), {7, 2}, std::chrono::seconds(1)).ok());
  auto request = publication(directory.path("a/b"), Fence{7, 1});
  request.directory = directory.path();
  EXPECT_FALSE(publish_checkpoint(request).ok());
}

// Runs `body` in a process of its own; its end is awaited by the caller.
template <typename Body>
pid_t in_process(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  return child;
}

bool succeeded(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(CheckpointPublish, AWriterThatWaitsForTheLockSeesTheFenceRaisedMeanwhile) {
  const TemporaryDirectory directory;
  directory.write("step-1/weights", "x");
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  // Before the lock is taken: a child would inherit it.
  const pid_t late = in_process([&] {
    char byte;
    if (::read(gate[0], &byte, 1) != 1) return false;
    const auto published = publish_checkpoint(publication(directory.path("step-1"), Fence{7, 1}));
    return !published && published.error().code == ErrorCode::kDenied;
  });
  {
    const auto lock = DirectoryLock::take(directory.path(), std::chrono::seconds(1));
    ASSERT_TRUE(lock.ok());
    ASSERT_EQ(::write(gate[1], "x", 1), 1);
    ::usleep(200'000);  // it has looked at the fence once by now, and waits
    ASSERT_TRUE(write_file(directory.path(".acrf-fence"), "7.2\n").ok());
  }
  EXPECT_TRUE(succeeded(late));
  EXPECT_FALSE(std::filesystem::exists(directory.path("step-1/acrf-manifest")));
  ::close(gate[0]);
  ::close(gate[1]);
}

TEST(CheckpointPublish, OfManyAtOnceTheLatestRestartWins) {
  const TemporaryDirectory directory;
  std::vector<pid_t> writers;
  for (unsigned restart = 1; restart <= 8; ++restart) {
    const auto draft = ".draft-" + std::to_string(restart);
    directory.write(draft + "/weights", std::to_string(restart));
    writers.push_back(in_process([&] {
      auto request = publication(directory.path(draft), Fence{7, restart});
      request.name = "step-1";
      return publish_checkpoint(request).ok();
    }));
  }
  bool last = false;
  for (const auto writer : writers) last = succeeded(writer);
  EXPECT_TRUE(last);
  EXPECT_EQ(*read_file(directory.path("step-1/weights")), "8");
  EXPECT_EQ(read_fences(directory.path()), (std::vector<Fence>{{7, 8}}));
}

}  // namespace
}  // namespace acrf
