// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "common/checkpoint_dir.h"
#include "layouts.h"

namespace acrf {
namespace {

using testing::ElementsAre;

// Files in memory; notes which are read.
class FakeFiles : public CheckpointFiles {
 public:
  void add_directory(const std::string& name, std::int64_t at) { entries_.push_back({name, at}); }
  void add_file(const std::string& path, const std::string& text) { texts_[path] = text; }
  void add_sealed(const std::string& name, std::int64_t at) {
    add_directory(name, at);
    add_file(name + "/weights", "0123456789");
    add_file(name + "/acrf-manifest", format_manifest({{10, "weights", {}}}));
  }

  std::vector<CheckpointEntry> list(const std::string& path) const override {
    return path.empty() ? entries_ : std::vector<CheckpointEntry>();
  }
  std::optional<std::uint64_t> size_of(const std::string& path) const override {
    const auto found = texts_.find(path);
    return found == texts_.end() ? std::nullopt : std::optional(found->second.size());
  }
  std::optional<std::string> read(const std::string& path, std::uint64_t offset,
                                  std::size_t length) const override {
    opened.push_back(path);
    const auto found = texts_.find(path);
    if (found == texts_.end()) return std::nullopt;
    return found->second.substr(std::min<std::size_t>(offset, found->second.size()), length);
  }

  mutable std::vector<std::string> opened;

 private:
  std::vector<CheckpointEntry> entries_;
  std::map<std::string, std::string> texts_;
};

TEST(Checkpoint, HighestStepWinsWhateverTheTimes) {
  FakeFiles files;
  files.add_sealed("step-9", 300);
  files.add_sealed("step-10", 100);
  files.add_sealed("step-2", 200);
  EXPECT_EQ(newest_complete(files), "step-10");
  EXPECT_THAT(files.opened, ElementsAre("step-10/acrf-manifest"));
}

TEST(Checkpoint, NamesWithoutANumberFollowByTime) {
  FakeFiles files;
  files.add_sealed("latest", 500);
  files.add_sealed("final", 900);
  EXPECT_EQ(newest_complete(files), "final");
  files.add_sealed("step-1", 1);
  EXPECT_EQ(newest_complete(files), "step-1");
}

TEST(Checkpoint, StepsAreReadFromNames) {
  EXPECT_EQ(step_of("step-10"), 10u);
  EXPECT_EQ(step_of("iter_0000200"), 200u);
  EXPECT_EQ(step_of("300"), 300u);
  EXPECT_EQ(step_of("epoch=3-step=40-v1.ckpt"), 40u);
  EXPECT_EQ(step_of("last.ckpt"), std::nullopt);
  EXPECT_EQ(step_of("final"), std::nullopt);
  EXPECT_EQ(step_of("step-99999999999999999999999"), std::nullopt);
}

TEST(Checkpoint, ATrackerIsReadOnce) {
  FakeFiles files;
  for (int step = 1; step <= 50; ++step)
    files.add_directory("iter_" + std::to_string(1'000'000 + step), step);
  files.add_file("latest_checkpointed_iteration.txt", "7");
  EXPECT_EQ(newest_complete(files), std::nullopt);
  EXPECT_THAT(files.opened, ElementsAre("latest_checkpointed_iteration.txt"));
}

TEST(Checkpoint, NoneIsAnAnswer) { EXPECT_EQ(newest_complete(FakeFiles()), std::nullopt); }

TEST(Checkpoint, EachIsJudgedByItsOwnRule) {
  const TemporaryDirectory directory;
  write_dcp(directory, "checkpoint-7");  // a plain distributed checkpoint of that name
  directory.write("step=6.ckpt", zip_archive("state"));
  directory.write("runs/events", "x");
  EXPECT_EQ(newest_complete(CheckpointDir(directory.path())), "checkpoint-7");
  remove(directory, "checkpoint-7/.metadata");
  EXPECT_EQ(newest_complete(CheckpointDir(directory.path())), "step=6.ckpt");
  EXPECT_EQ(newest_complete(CheckpointDir(directory.path()), CheckpointFormat::kTorchDcp),
            std::nullopt);
}

}  // namespace
}  // namespace acrf
