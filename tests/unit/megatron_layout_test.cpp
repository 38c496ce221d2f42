// SPDX-License-Identifier: GPL-2.0-or-later
#include "layout_fixture.h"

namespace acrf {
namespace {

class MegatronLayout : public Layouts {
 protected:
  void SetUp() override { format_ = CheckpointFormat::kMegatron; }

  void write_ranks(const std::string& name, bool distributed_optimizer = false) {
    for (int tensor = 0; tensor < 2; ++tensor)
      for (int pipeline = 0; pipeline < 3; ++pipeline) {
        const auto rank =
            name + "/mp_rank_0" + std::to_string(tensor) + "_00" + std::to_string(pipeline);
        directory_.write(rank + "/model_optim_rng.pt", zip_archive("model"));
        if (distributed_optimizer)
          directory_.write(rank + "/distrib_optim.pt", zip_archive("optimizer"));
      }
  }
  void write_distributed(const std::string& name) {
    write_dcp(directory_, name);
    directory_.write(name + "/common.pt", zip_archive("common"));
    directory_.write(name + "/metadata.json",
                     R"({"sharded_backend": "torch_dist", "sharded_backend_version": 1})");
  }
  void track(const std::string& iteration) {
    directory_.write("latest_checkpointed_iteration.txt", iteration);
  }
};

TEST_F(MegatronLayout, TrackedAndOlderIterationsAreComplete) {
  write_ranks("iter_0000100");
  write_ranks("iter_0000200", true);
  write_distributed("iter_0000300");
  track("300");
  for (const auto name : {"iter_0000100", "iter_0000200", "iter_0000300"}) expect_whole(name);
  EXPECT_EQ(newest(), "iter_0000300");
}

TEST_F(MegatronLayout, NewerThanTheTrackerIsNotFinished) {
  write_ranks("iter_0000100");
  write_ranks("iter_0000200");
  expect_broken("iter_0000100", "no latest_checkpointed_iteration.txt");
  track("100\n");
  expect_broken("iter_0000200", "newer than iteration 100");
  EXPECT_EQ(newest(), "iter_0000100");
  track("1e2");
  expect_broken("iter_0000100", "holds no number");
}

TEST_F(MegatronLayout, AReleaseHasNoNumber) {
  write_ranks("release");
  write_ranks("iter_0000100");
  track("release");
  expect_whole("release");
  expect_broken("iter_0000100", "says release");
  track("100");
  expect_broken("release", "says 100");
}

TEST_F(MegatronLayout, EveryModelParallelRankMustBeThere) {
  track("100");
  write_ranks("iter_0000100", true);
  remove(directory_, "iter_0000100/mp_rank_01_001");
  expect_broken("iter_0000100", "ranks are missing");
  write_ranks("iter_0000100", true);
  remove(directory_, "iter_0000100/mp_rank_01_001/distrib_optim.pt");
  expect_broken("iter_0000100", "mp_rank_01_001/distrib_optim.pt is missing");
  write_ranks("iter_0000100", true);
  truncate(directory_, "iter_0000100/mp_rank_00_002/model_optim_rng.pt", 4);
  expect_broken("iter_0000100", "mp_rank_00_002/model_optim_rng.pt is cut off");
}

TEST_F(MegatronLayout, ADistributedOneNeedsAllItsParts) {
  track("100");
  const std::string name = "iter_0000100";
  for (const std::string part : {"common.pt", "metadata.json", ".metadata", "__1_0.distcp"}) {
    write_distributed(name);
    expect_whole(name);
    remove(directory_, name + "/" + part);
    expect_broken(name, part);
  }
  write_distributed(name);
  truncate(directory_, name + "/metadata.json", 1);
  expect_broken(name, "metadata.json is cut off");
}

}  // namespace
}  // namespace acrf
