// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/last_checkpoint.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

Verdict of_class(const char* name) {
  return {name, Severity::kCritical, Scope::kGpu, Action::kDrain};
}

JobPolicy training() {
  JobPolicy policy;
  policy.recovery = RecoveryPolicy::kRequeue;
  policy.workload = Workload::kTraining;
  policy.checkpoint_dir = "/ckpt";
  return policy;
}

TEST(LastCheckpoint, OnlyAPartThatStillComputesRightGetsTime) {
  for (const char* name : {"row_remap_failure", "page_retirement_limit", "dimm_ce_storm",
                           "temperature_limit_lasting", "hw_slowdown_lasting", "predicted_gpu"})
    EXPECT_TRUE(allows_last_checkpoint(of_class(name))) << name;
  for (const char* name : {"gpu_lost", "gsp", "mem_uncontained", "ecc_uncorrectable", "node_lost",
                           "slurmd_hung", "driver_hung", "pcie_fatal", "", "never_heard_of"})
    EXPECT_FALSE(allows_last_checkpoint(of_class(name))) << name;
}

TEST(LastCheckpoint, TrainingGetsTheSitesTimeUnlessItSaysOtherwise) {
  auto policy = training();
  EXPECT_EQ(last_checkpoint_s(policy, 30), 30);
  policy.last_checkpoint_s = 90;
  EXPECT_EQ(last_checkpoint_s(policy, 30), 90);
  EXPECT_EQ(last_checkpoint_s(policy, 0), 90);
  policy.last_checkpoint_s = 0;
  EXPECT_EQ(last_checkpoint_s(policy, 30), 0);
}

TEST(LastCheckpoint, OthersHaveToAskAndNeedADirectory) {
  auto policy = training();
  policy.workload = Workload::kOther;
  EXPECT_EQ(last_checkpoint_s(policy, 30), 0);
  policy.last_checkpoint_s = 10;
  EXPECT_EQ(last_checkpoint_s(policy, 30), 10);
  policy.checkpoint_dir.clear();
  EXPECT_EQ(last_checkpoint_s(policy, 30), 0);
  policy = training();
  policy.recovery = RecoveryPolicy::kNone;
  EXPECT_EQ(last_checkpoint_s(policy, 30), 0);
}

}  // namespace
}  // namespace acrf
