// SPDX-License-Identifier: GPL-2.0-or-later
#include "layout_fixture.h"

namespace acrf {
namespace {

class LightningLayout : public Layouts {
 protected:
  void SetUp() override { format_ = CheckpointFormat::kLightning; }

  void age(const std::string& name, int hours) {
    const auto path = directory_.path(name);
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
  }
};

TEST_F(LightningLayout, AnArchiveWithItsEndIsComplete) {
  directory_.write("epoch=0-step=9.ckpt", zip_archive("state"));
  directory_.write("epoch=1-step=100-v1.ckpt", zip_archive("state", true));
  expect_whole("epoch=0-step=9.ckpt");
  expect_whole("epoch=1-step=100-v1.ckpt");
  EXPECT_EQ(newest(), "epoch=1-step=100-v1.ckpt");
}

TEST_F(LightningLayout, CutAnywhereItIsRefused) {
  for (const bool zip64 : {false, true}) {
    const auto whole = zip_archive("state", zip64);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      directory_.write("step=9.ckpt", whole.substr(0, length));
      EXPECT_TRUE(defect("step=9.ckpt").has_value()) << length;
    }
  }
}

TEST_F(LightningLayout, AHoleBeforeTheDirectoryIsNoticed) {
  auto whole = zip_archive(std::string(100, 'x'));
  directory_.write("step=9.ckpt", whole.erase(60, 20));
  expect_broken("step=9.ckpt", "directory is not where its end says");
}

TEST_F(LightningLayout, LastWithoutStepGoesByTime) {
  directory_.write("epoch=0-step=100.ckpt", zip_archive("state"));
  directory_.write("epoch=1-step=200.ckpt", zip_archive("state"));
  directory_.write("last.ckpt", zip_archive("state"));
  age("epoch=0-step=100.ckpt", 30);
  age("epoch=1-step=200.ckpt", 20);
  age("last.ckpt", 10);
  EXPECT_EQ(newest(), "last.ckpt");
  age("last.ckpt", 25);
  EXPECT_EQ(newest(), "epoch=1-step=200.ckpt");
  truncate(directory_, "epoch=1-step=200.ckpt", 1);
  EXPECT_EQ(newest(), "last.ckpt");
}

TEST_F(LightningLayout, ALinkIsLeftToWhatItPointsTo) {
  directory_.write("epoch=0-step=100.ckpt", zip_archive("state"));
  std::filesystem::create_symlink("epoch=0-step=100.ckpt", directory_.path("last.ckpt"));
  EXPECT_EQ(defect("last.ckpt"), "not listed");
  EXPECT_EQ(newest(), "epoch=0-step=100.ckpt");
}

TEST_F(LightningLayout, AShardedOneIsADirectory) {
  write_dcp(directory_, "epoch=0-step=100.ckpt");
  expect_broken("epoch=0-step=100.ckpt", "meta.pt is missing");
  directory_.write("epoch=0-step=100.ckpt/meta.pt", zip_archive("meta"));
  expect_whole("epoch=0-step=100.ckpt");
  remove(directory_, "epoch=0-step=100.ckpt/__0_0.distcp");
  expect_broken("epoch=0-step=100.ckpt", "__0_0.distcp is missing");
}

TEST_F(LightningLayout, DeepSpeedKeepsItsOwnInside) {
  directory_.write("step=5.ckpt/checkpoint/mp_rank_00_model_states.pt", zip_archive("model"));
  expect_broken("step=5.ckpt", "no .metadata");
  directory_.write("step=5.ckpt/latest", "checkpoint");
  expect_whole("step=5.ckpt");
  directory_.write("step=5.ckpt/latest", "../elsewhere");
  expect_broken("step=5.ckpt", "names no directory");
}

}  // namespace
}  // namespace acrf
