// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build_paths.h"
#include "common/file.h"

namespace acrf {
namespace {

using testing::HasSubstr;

TEST(Policy, OptionsAreChecked) {
  JobPolicy policy;
  EXPECT_TRUE(set_option(policy, "policy", "requeue").ok());
  EXPECT_TRUE(set_option(policy, "checkpoint-dir", "/ckpt").ok());
  EXPECT_TRUE(set_option(policy, "max-requeues", "3").ok());
  EXPECT_EQ(policy.recovery, RecoveryPolicy::kRequeue);
  EXPECT_EQ(policy.max_requeues, 3);
}

TEST(Policy, ARefusalNamesTheOptionAndWhatIsAllowed) {
  JobPolicy policy;
  EXPECT_EQ(set_option(policy, "policy", "restart").error().sentence,
            "--acrf-policy=restart: must be none, requeue or failover");
  EXPECT_THAT(set_option(policy, "checkpoint-dir", "ckpt").error().sentence,
              HasSubstr("must be an absolute path"));
  EXPECT_FALSE(set_option(policy, "checkpoint-dir", "").ok());
  EXPECT_THAT(set_option(policy, "checkpoint-dir", "/ckpt/../etc").error().sentence,
              HasSubstr("must not contain .."));
  EXPECT_THAT(set_option(policy, "workload", "Training").error().sentence,
              HasSubstr("must be training, inference or other"));
  EXPECT_THAT(set_option(policy, "checkpoint-format", "tar").error().sentence,
              HasSubstr("must be auto, manifest, torch-dcp, deepspeed, megatron, hf or lightning"));
  EXPECT_THAT(set_option(policy, "checkpoint-interval", "soon").error().sentence,
              HasSubstr("--acrf-checkpoint-interval=soon: must be auto or a time"));
  for (const auto bad : {"0", "0s", "25h", "-1", "x"})
    EXPECT_FALSE(set_option(policy, "checkpoint-cost", bad).ok()) << bad;
  EXPECT_FALSE(set_option(policy, "checkpoint-dir", "/a\nb").ok());
  EXPECT_THAT(set_option(policy, "checkpoint-signal", "KILL").error().sentence,
              HasSubstr("must be USR1, USR2, TERM, INT, HUP or CONT"));
  for (const auto bad : {"61m", "-1", "soon"})
    EXPECT_FALSE(set_option(policy, "last-checkpoint", bad).ok()) << bad;
  EXPECT_FALSE(set_option(policy, "max-requeues", "-1").ok());
  EXPECT_FALSE(set_option(policy, "max-requeues", "many").ok());
  EXPECT_FALSE(set_option(policy, "no-such", "1").ok());
}

TEST(Policy, TheTokenSaysItAllAndIsOneWord) {
  JobPolicy policy;
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"policy", "failover"},
           {"workload", "training"},
           {"checkpoint-dir", "/ckpt/run 1,x=y"},
           {"checkpoint-format", "torch-dcp"},
           {"checkpoint-interval", "10:30"},
           {"checkpoint-cost", "90s"},
           {"checkpoint-signal", "USR2"},
           {"last-checkpoint", "2:00"},
           {"max-requeues", "4"},
           {"spares", "2"},
           {"min-nodes", "3"},
           {"topology", "spread"},
           {"exclude-risk", "medium"}})
    ASSERT_TRUE(set_option(policy, name, value).ok()) << name;
  const auto token = to_token(policy);
  EXPECT_EQ(token.find(' '), std::string::npos);
  const auto found = find_policy("other words " + token + " more");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->recovery, RecoveryPolicy::kFailover);
  EXPECT_EQ(found->workload, Workload::kTraining);
  EXPECT_EQ(found->checkpoint_dir, policy.checkpoint_dir);
  EXPECT_EQ(found->checkpoint_format, CheckpointFormat::kTorchDcp);
  EXPECT_EQ(found->checkpoint_signal, "USR2");
  EXPECT_EQ(found->last_checkpoint_s, 120);
  ASSERT_TRUE(found->checkpoint_interval);
  EXPECT_EQ(found->checkpoint_interval->seconds, 630);
  EXPECT_EQ(found->checkpoint_cost_s, 90);
  EXPECT_EQ(found->max_requeues, 4);
  EXPECT_EQ(found->spares, 2);
  EXPECT_EQ(found->min_nodes, 3);
  EXPECT_EQ(found->shape, Shape::kSpread);
  EXPECT_EQ(found->excluded_risk, 50);
  EXPECT_EQ(to_token(*found), token);
}

TEST(Policy, TheManualNamesEveryOption) {
  const auto manual = read_file(ACRF_TEST_DATA "/../../doc/man/spank_acrf.8");
  ASSERT_TRUE(manual.ok());
  for (const auto& option : policy_options())
    EXPECT_THAT(*manual, HasSubstr(".BI --acrf-" + std::string(option.name) + "= \"" +
                                   std::string(option.argument) + "\"\n"));
}

TEST(Policy, BrokenTokensAreNone) {
  for (const auto bad : {"", "acrf:", "acrf:policy", "acrf:policy=xx", "xacrf:policy=requeue",
                         "acrf:policy=requeue,checkpoint-dir=%zz"})
    EXPECT_FALSE(find_policy(bad)) << bad;
}

}  // namespace
}  // namespace acrf
