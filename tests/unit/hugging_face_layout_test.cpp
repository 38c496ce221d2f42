// SPDX-License-Identifier: GPL-2.0-or-later
#include "layout_fixture.h"

namespace acrf {
namespace {

class HuggingFaceLayout : public Layouts {
 protected:
  void SetUp() override { format_ = CheckpointFormat::kHuggingFace; }

  void write_state(const std::string& name, int step) {
    directory_.write(
        name + "/trainer_state.json",
        "{\n  \"best_global_step\": 1,\n  \"best_metric\": null,\n  \"global_step\": " +
            std::to_string(step) +
            ",\n  \"log_history\": [{\"loss\": 2.5, \"step\": 1, \"s\": \"}{\\\"\"}]\n}\n");
  }
  void write_single(const std::string& name, int step) {
    directory_.write(name + "/model.safetensors", safetensors(64));
    directory_.write(name + "/optimizer.pt", zip_archive("optimizer"));
    write_state(name, step);
  }
  void write_index(const std::string& name, const std::string& shard) {
    directory_.write(name + "/model.safetensors.index.json",
                     R"({"metadata": {"total_size": 128}, "weight_map": {"a": ")" + shard +
                         R"(", "b": "model-00002-of-00002.safetensors"}})");
    directory_.write(name + "/model-00001-of-00002.safetensors", safetensors(64));
    directory_.write(name + "/model-00002-of-00002.safetensors", safetensors(64));
    write_state(name, 500);
  }
};

TEST_F(HuggingFaceLayout, WeightsAndTrainerStateMakeItComplete) {
  write_single("checkpoint-500", 500);
  write_single("checkpoint-1000", 1000);
  expect_whole("checkpoint-500");
  EXPECT_EQ(newest(), "checkpoint-1000");
}

TEST_F(HuggingFaceLayout, TheStateIsWrittenAfterTheWeights) {
  write_single("checkpoint-500", 500);
  remove(directory_, "checkpoint-500/trainer_state.json");
  expect_broken("checkpoint-500", "no trainer_state.json");
  write_state("checkpoint-500", 500);
  truncate(directory_, "checkpoint-500/trainer_state.json", 2);
  expect_broken("checkpoint-500", "trainer_state.json is cut off");
  write_state("checkpoint-500", 400);
  expect_broken("checkpoint-500", "is of step 400");
}

TEST_F(HuggingFaceLayout, CutWeightsAreNoticed) {
  write_single("checkpoint-500", 500);
  truncate(directory_, "checkpoint-500/model.safetensors", 1);
  expect_broken("checkpoint-500", "its header says");
  directory_.write("checkpoint-500/model.safetensors", safetensors(64).substr(0, 100));
  expect_broken("checkpoint-500", "header is longer than the file");
  directory_.write("checkpoint-500/model.safetensors", "1234");
  expect_broken("checkpoint-500", "has no header");
  directory_.write("checkpoint-500/model.safetensors", std::string(64, '\xff'));
  expect_broken("checkpoint-500", "header is longer than the file");
  remove(directory_, "checkpoint-500/model.safetensors");
  expect_broken("checkpoint-500", "no model weights");
}

TEST_F(HuggingFaceLayout, PickledWeightsAndOptimizersMustBeWholeArchives) {
  write_single("checkpoint-500", 500);
  remove(directory_, "checkpoint-500/model.safetensors");
  directory_.write("checkpoint-500/pytorch_model.bin", zip_archive("weights"));
  expect_whole("checkpoint-500");
  truncate(directory_, "checkpoint-500/pytorch_model.bin", 3);
  expect_broken("checkpoint-500", "pytorch_model.bin is cut off");
  write_single("checkpoint-500", 500);
  truncate(directory_, "checkpoint-500/optimizer.pt", 3);
  expect_broken("checkpoint-500", "optimizer.pt is cut off");
}

TEST_F(HuggingFaceLayout, EveryShardOfAnIndexMustBeWhole) {
  write_index("checkpoint-500", "model-00001-of-00002.safetensors");
  expect_whole("checkpoint-500");
  truncate(directory_, "checkpoint-500/model-00001-of-00002.safetensors", 1);
  expect_broken("checkpoint-500", "model-00001-of-00002.safetensors has");
  remove(directory_, "checkpoint-500/model-00001-of-00002.safetensors");
  expect_broken("checkpoint-500", "model-00001-of-00002.safetensors is missing");
}

TEST_F(HuggingFaceLayout, AnIndexReachesNothingOutside) {
  directory_.write("outside.safetensors", safetensors(64));
  write_index("checkpoint-500", "../outside.safetensors");
  expect_broken("checkpoint-500", "../outside.safetensors is missing");
  std::filesystem::create_directory_symlink(directory_.path(),
                                            directory_.path("checkpoint-500/up"));
  write_index("checkpoint-500", "up/outside.safetensors");
  expect_broken("checkpoint-500", "up/outside.safetensors is missing");
}

TEST_F(HuggingFaceLayout, WeightsMayBeShardedByFsdpOrDeepSpeed) {
  write_state("checkpoint-500", 500);
  write_dcp(directory_, "checkpoint-500/pytorch_model_fsdp_0");
  expect_whole("checkpoint-500");
  remove(directory_, "checkpoint-500/pytorch_model_fsdp_0/__2_0.distcp");
  expect_broken("checkpoint-500", "__2_0.distcp is missing");
  remove(directory_, "checkpoint-500/pytorch_model_fsdp_0");
  directory_.write("checkpoint-500/global_step500/mp_rank_00_model_states.pt", zip_archive("m"));
  expect_broken("checkpoint-500", "no model weights");
  directory_.write("checkpoint-500/latest", "global_step500");
  expect_whole("checkpoint-500");
}

}  // namespace
}  // namespace acrf
