// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace acrf {
namespace {

using testing::HasSubstr;

const SubmittedJob kBatch = {true, false, false, 8};

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
            "--acrf-policy=restart: must be none or requeue");
  EXPECT_THAT(set_option(policy, "checkpoint-dir", "ckpt").error().sentence,
              HasSubstr("must be an absolute path"));
  EXPECT_FALSE(set_option(policy, "checkpoint-dir", "").ok());
  EXPECT_FALSE(set_option(policy, "checkpoint-dir", "/a\nb").ok());
  EXPECT_FALSE(set_option(policy, "max-requeues", "-1").ok());
  EXPECT_FALSE(set_option(policy, "max-requeues", "many").ok());
  EXPECT_FALSE(set_option(policy, "no-such", "1").ok());
}

TEST(Policy, ConflictsAreRefused) {
  JobPolicy policy;
  policy.recovery = RecoveryPolicy::kRequeue;
  policy.max_requeues = 8;
  EXPECT_TRUE(check_policy(policy, kBatch).ok());
  EXPECT_THAT(check_policy(policy, {false, false, false, 8}).error().sentence, HasSubstr("sbatch"));
  EXPECT_THAT(check_policy(policy, {true, false, true, 8}).error().sentence,
              HasSubstr("--no-requeue"));
  EXPECT_THAT(check_policy(policy, {true, false, false, 7}).error().sentence,
              HasSubstr("at most 7"));
  EXPECT_THAT(check_policy(policy, {true, true, false, 8}).error().sentence,
              HasSubstr("heterogeneous"));
  policy.recovery = RecoveryPolicy::kNone;
  EXPECT_TRUE(check_policy(policy, {false, true, true, 0}).ok());
}

TEST(Policy, TheTokenSaysItAllAndIsOneWord) {
  JobPolicy policy;
  policy.recovery = RecoveryPolicy::kRequeue;
  policy.checkpoint_dir = "/ckpt/run 1,x=y";
  policy.max_requeues = 4;
  const auto token = to_token(policy);
  EXPECT_EQ(token.find(' '), std::string::npos);
  const auto found = find_policy("other words " + token + " more");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->recovery, RecoveryPolicy::kRequeue);
  EXPECT_EQ(found->checkpoint_dir, policy.checkpoint_dir);
  EXPECT_EQ(found->max_requeues, 4);
}

TEST(Policy, BrokenTokensAreNone) {
  for (const auto bad : {"", "acrf:", "acrf:policy", "acrf:policy=xx", "xacrf:policy=requeue",
                         "acrf:policy=requeue,checkpoint-dir=%zz"})
    EXPECT_FALSE(find_policy(bad)) << bad;
}

}  // namespace
}  // namespace acrf
