// SPDX-License-Identifier: GPL-2.0-or-later
#include "layout_fixture.h"

namespace acrf {
namespace {

class TorchDcpLayout : public Layouts {
 protected:
  void SetUp() override { format_ = CheckpointFormat::kTorchDcp; }
};

TEST_F(TorchDcpLayout, MetadataAndAllItsShardsMakeItComplete) {
  write_dcp(directory_, "step-10");
  expect_whole("step-10");
  EXPECT_EQ(newest(), "step-10");
}

TEST_F(TorchDcpLayout, WithoutMetadataItWasNeverFinished) {
  write_dcp(directory_, "step-10");
  write_dcp(directory_, "step-20");
  remove(directory_, "step-20/.metadata");
  directory_.write("step-20/.metadata.tmp", "half");
  expect_broken("step-20", "no .metadata");
  EXPECT_EQ(newest(), "step-10");
}

TEST_F(TorchDcpLayout, MissingEmptyAndCutShardsAreNamed) {
  write_dcp(directory_, "missing");
  remove(directory_, "missing/__1_0.distcp");
  expect_broken("missing", "__1_0.distcp is missing");
  write_dcp(directory_, "empty");
  directory_.write("empty/__2_0.distcp", "");
  expect_broken("empty", "__2_0.distcp is empty");
  write_dcp(directory_, "cut");
  truncate(directory_, "cut/__0_0.distcp", 1);
  expect_broken("cut", "__0_0.distcp is cut off");
}

TEST_F(TorchDcpLayout, CutMetadataIsRefused) {
  write_dcp(directory_, "step-1");
  truncate(directory_, "step-1/.metadata", 1);
  expect_broken("step-1", ".metadata is cut off");
  directory_.write("step-1/.metadata", "");
  expect_broken("step-1", ".metadata is cut off");
  directory_.write("step-1/.metadata", "no names.");
  expect_broken("step-1", "names no shard");
}

TEST_F(TorchDcpLayout, ShardsThatAreNoArchivesOnlyHaveToBeThere) {
  write_dcp(directory_, "step-1");
  directory_.write("step-1/__0_0.distcp", "compressed");
  expect_whole("step-1");
}

TEST_F(TorchDcpLayout, NamesAreFoundAnywhereInLargeMetadata) {
  write_dcp(directory_, "step-1");
  const std::string shard = "__0_0.distcp";
  for (const std::size_t before : {(1u << 20) - 5, (1u << 20) - 140, (3u << 20) - 7}) {
    directory_.write("step-1/.metadata", std::string(before, 'x') + "\x8c\x0c" + shard + "\x94.");
    expect_whole("step-1");
    directory_.write("step-1/.metadata",
                     std::string(before, 'x') + "\x8c\x0c__7_0.distcp\x94" + shard + ".");
    expect_broken("step-1", "__7_0.distcp is missing");
  }
}

TEST_F(TorchDcpLayout, AShardThatIsALinkIsMissing) {
  write_dcp(directory_, "step-1");
  std::filesystem::rename(directory_.path("step-1/__0_0.distcp"), directory_.path("elsewhere"));
  std::filesystem::create_symlink(directory_.path("elsewhere"),
                                  directory_.path("step-1/__0_0.distcp"));
  expect_broken("step-1", "__0_0.distcp is missing");
}

}  // namespace
}  // namespace acrf
