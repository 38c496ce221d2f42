// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace acrf {
namespace {

using testing::HasSubstr;

// Checkpoints in memory; counts how many are opened.
class FakeFiles : public CheckpointFiles {
 public:
  void add(const std::string& name, std::int64_t at, std::optional<std::string> manifest,
           std::map<std::string, std::uint64_t> sizes) {
    entries_.push_back({name, at});
    if (manifest) manifests_[name] = *manifest;
    sizes_[name] = std::move(sizes);
  }
  void add_complete(const std::string& name, std::int64_t at) {
    add(name, at, format_manifest({{10, "weights"}}), {{"weights", 10}});
  }

  std::vector<CheckpointEntry> list() const override { return entries_; }
  std::optional<std::string> manifest_of(const std::string& name) const override {
    ++opened;
    const auto found = manifests_.find(name);
    return found == manifests_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<std::uint64_t> size_of(const std::string& name,
                                       const std::string& path) const override {
    const auto& files = sizes_.at(name);
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  }

  mutable int opened = 0;

 private:
  std::vector<CheckpointEntry> entries_;
  std::map<std::string, std::string> manifests_;
  std::map<std::string, std::map<std::string, std::uint64_t>> sizes_;
};

TEST(Checkpoint, HighestStepWinsWhateverTheTimes) {
  FakeFiles files;
  files.add_complete("step-9", 300);
  files.add_complete("step-10", 100);
  files.add_complete("step-2", 200);
  EXPECT_EQ(newest_complete(files), "step-10");
  EXPECT_EQ(files.opened, 1);
}

TEST(Checkpoint, NamesWithoutANumberFollowByTime) {
  FakeFiles files;
  files.add_complete("latest", 500);
  files.add_complete("final", 900);
  EXPECT_EQ(newest_complete(files), "final");
  files.add_complete("step-1", 1);
  EXPECT_EQ(newest_complete(files), "step-1");
}

TEST(Checkpoint, IncompleteAndWrongSizeOnesAreSkipped) {
  FakeFiles files;
  files.add_complete("step-1", 1);
  files.add("step-2", 2, format_manifest({{10, "a"}, {20, "b"}}), {{"a", 10}, {"b", 19}});
  files.add("step-3", 3, format_manifest({{10, "a"}, {20, "b"}}), {{"a", 10}});
  files.add("step-4", 4, std::nullopt, {{"a", 10}});
  EXPECT_EQ(newest_complete(files), "step-1");
  EXPECT_THAT(*find_defect(files, "step-2"), HasSubstr("b has 19 bytes, the manifest says 20"));
  EXPECT_THAT(*find_defect(files, "step-3"), HasSubstr("b is missing"));
  EXPECT_THAT(*find_defect(files, "step-4"), HasSubstr("no acrf-manifest"));
}

TEST(Checkpoint, NoneIsAnAnswer) { EXPECT_EQ(newest_complete(FakeFiles()), std::nullopt); }

TEST(Manifest, SurvivesWritingAndReading) {
  const auto files = parse_manifest(format_manifest({{0, "empty"}, {7, "dir/with blank"}}));
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[1].path, "dir/with blank");
}

TEST(Manifest, CutAnywhereItIsRefused) {
  const auto whole = format_manifest({{10, "a"}, {20, "b"}});
  for (std::size_t length = 0; length + 1 < whole.size(); ++length)
    EXPECT_FALSE(parse_manifest(whole.substr(0, length)).ok()) << length;
}

TEST(Manifest, NamesNothingOutsideItsCheckpoint) {
  for (const auto path : {"/etc/passwd", "../x", "a/../../x", "a//b", "./a", ""})
    EXPECT_FALSE(parse_manifest(format_manifest({{1, path}})).ok()) << path;
}

}  // namespace
}  // namespace acrf
