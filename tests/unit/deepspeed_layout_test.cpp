// SPDX-License-Identifier: GPL-2.0-or-later
#include "layout_fixture.h"

namespace acrf {
namespace {

class DeepSpeedLayout : public Layouts {
 protected:
  void SetUp() override { format_ = CheckpointFormat::kDeepSpeed; }

  void write_tag(const std::string& tag, int data = 4, int model = 2) {
    for (int m = 0; m < model; ++m) {
      const auto rank = "mp_rank_0" + std::to_string(m);
      directory_.write(tag + "/" + rank + "_model_states.pt", zip_archive("model"));
      for (int d = 0; d < data; ++d)
        directory_.write(
            tag + "/bf16_zero_pp_rank_" + std::to_string(d) + "_" + rank + "_optim_states.pt",
            zip_archive("optimizer"));
    }
  }
};

TEST_F(DeepSpeedLayout, LatestAndOlderOnesAreComplete) {
  write_tag("global_step9");
  write_tag("global_step10");
  directory_.write("latest", "global_step10");
  expect_whole("global_step9");
  expect_whole("global_step10");
  EXPECT_EQ(newest(), "global_step10");
}

TEST_F(DeepSpeedLayout, NewerThanLatestIsNotFinished) {
  write_tag("global_step10");
  write_tag("global_step20");
  directory_.write("latest", "global_step10\n");
  expect_broken("global_step20", "newer than global_step10");
  EXPECT_EQ(newest(), "global_step10");
  remove(directory_, "latest");
  expect_broken("global_step10", "no file 'latest'");
}

TEST_F(DeepSpeedLayout, EveryRankOfTheRectangleMustBeThere) {
  directory_.write("latest", "global_step10");
  write_tag("global_step10");
  remove(directory_, "global_step10/bf16_zero_pp_rank_2_mp_rank_01_optim_states.pt");
  expect_broken("global_step10", "rank 2, model-parallel rank 1 are missing");
  write_tag("global_step10");
  remove(directory_, "global_step10/mp_rank_00_model_states.pt");
  expect_broken("global_step10", "model states of model-parallel rank 0 are missing");
  remove(directory_, "global_step10/mp_rank_01_model_states.pt");
  expect_broken("global_step10", "no model states");
}

TEST_F(DeepSpeedLayout, Stage3KeepsTheModelInParts) {
  directory_.write("latest", "global_step10");
  for (int d = 0; d < 3; ++d)
    for (const std::string kind : {"model", "optim"})
      directory_.write(
          "global_step10/zero_pp_rank_" + std::to_string(d) + "_mp_rank_00_" + kind + "_states.pt",
          zip_archive(kind));
  expect_whole("global_step10");
  // The last rank of one kind is known to be missing from the other kind.
  remove(directory_, "global_step10/zero_pp_rank_2_mp_rank_00_optim_states.pt");
  expect_broken("global_step10", "optimizer states of data-parallel rank 2");
}

TEST_F(DeepSpeedLayout, CutAndEmptyStatesAreRefused) {
  directory_.write("latest", "global_step10");
  write_tag("global_step10");
  truncate(directory_, "global_step10/mp_rank_01_model_states.pt", 30);
  expect_broken("global_step10", "mp_rank_01_model_states.pt is cut off");
  directory_.write("global_step10/mp_rank_01_model_states.pt", "");
  expect_broken("global_step10", "mp_rank_01_model_states.pt is empty");
}

TEST_F(DeepSpeedLayout, ATagWithoutNumberIsCompleteOnlyAsLatest) {
  write_tag("best");
  write_tag("last");
  directory_.write("latest", "last");
  expect_whole("last");
  expect_broken("best", "can't be told");
}

}  // namespace
}  // namespace acrf
