// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/site_policy.h"

#include <gmock/gmock.h>

#include "core/config.h"

namespace acrf {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

SitePolicy site(const std::string& lines) {
  const auto config = parse_config(lines, "acrf.conf");
  EXPECT_TRUE(config.ok()) << config.error().sentence;
  return {config->policies, config->max_requeues};
}

JobFacts batch() {
  JobFacts job;
  job.partition = "main";
  job.account = "ml";
  job.qos = "normal";
  job.uid = 1000;
  job.nodes = 2;
  job.gpus = 16;
  job.time_limit_s = 3600;
  job.is_batch = true;
  return job;
}

std::string refusal(const SitePolicy& policy, const JobFacts& job, const GivenOptions& given) {
  const auto resolved = resolve_policy(policy, job, given);
  return resolved ? "none" : resolved.error().sentence;
}

TEST(SitePolicy, AJobThatSaysNothingIsLeftAloneWhereTheSiteSaysNothing) {
  const auto resolved = resolve_policy({}, batch(), {});
  ASSERT_TRUE(resolved.ok());
  EXPECT_FALSE(resolved->applies);
}

TEST(SitePolicy, WorkloadsDiffer) {
  const auto training = *resolve_policy({}, batch(), {{"workload", "training"}});
  EXPECT_TRUE(training.applies);
  EXPECT_EQ(training.policy.recovery, RecoveryPolicy::kRequeue);
  EXPECT_EQ(training.policy.shape, Shape::kPack);
  EXPECT_TRUE(training.policy.checkpoint_interval->automatic);
  EXPECT_TRUE(training.append_output);
  EXPECT_FALSE(training.signal_before_end);  // it would have nowhere to write
  EXPECT_TRUE(resolve_policy({}, batch(), {{"workload", "training"}, {"checkpoint-dir", "/c"}})
                  ->signal_before_end);

  const auto inference = *resolve_policy({}, batch(), {{"workload", "inference"}});
  EXPECT_EQ(inference.policy.recovery, RecoveryPolicy::kRequeue);
  EXPECT_EQ(inference.policy.shape, Shape::kSpread);
  EXPECT_FALSE(inference.policy.checkpoint_interval);
  EXPECT_FALSE(inference.append_output);
  EXPECT_FALSE(inference.signal_before_end);

  const auto other = *resolve_policy({}, batch(), {{"workload", "other"}});
  EXPECT_EQ(other.policy.recovery, RecoveryPolicy::kNone);
  const auto asked = *resolve_policy({}, batch(), {{"workload", "other"}, {"policy", "requeue"}});
  EXPECT_EQ(asked.policy.recovery, RecoveryPolicy::kRequeue);
}

TEST(SitePolicy, TheJobsOwnWordsComeBeforeTheWorkloads) {
  const auto resolved = *resolve_policy(
      {}, batch(), {{"workload", "inference"}, {"topology", "pack"}, {"policy", "none"}});
  EXPECT_EQ(resolved.policy.shape, Shape::kPack);
  EXPECT_EQ(resolved.policy.recovery, RecoveryPolicy::kNone);
}

TEST(SitePolicy, WhatCannotComeBackIsNotToldToByDefault) {
  auto job = batch();
  job.is_batch = false;
  EXPECT_EQ(resolve_policy({}, job, {{"workload", "training"}})->policy.recovery,
            RecoveryPolicy::kNone);
  job = batch();
  job.refuses_requeue = true;
  EXPECT_EQ(resolve_policy({}, job, {{"workload", "training"}})->policy.recovery,
            RecoveryPolicy::kNone);
}

TEST(SitePolicy, ConflictsAreRefusedWithTheFix) {
  auto job = batch();
  job.is_batch = false;
  EXPECT_THAT(refusal({}, job, {{"policy", "requeue"}}), HasSubstr("submit it with sbatch"));
  job = batch();
  job.refuses_requeue = true;
  EXPECT_THAT(refusal({}, job, {{"policy", "requeue"}}), HasSubstr("contradicts --no-requeue"));
  job = batch();
  job.is_heterogeneous = true;
  EXPECT_THAT(refusal({}, job, {{"policy", "requeue"}}), HasSubstr("heterogeneous"));
  EXPECT_THAT(refusal({}, batch(), {{"policy", "failover"}, {"spares", "2"}}),
              AllOf(HasSubstr("--acrf-spares=2: must be less than the job's nodes"),
                    HasSubstr("ask for more with --nodes")));
  EXPECT_EQ(refusal({}, batch(), {{"policy", "failover"}, {"spares", "1"}}), "none");
  EXPECT_THAT(refusal({}, batch(), {{"policy", "failover"}, {"spares", "1"}, {"min-nodes", "2"}}),
              HasSubstr("--acrf-min-nodes=2: must not be more than the job's nodes without its "
                        "spares, of which there are 1"));
  EXPECT_EQ(refusal({}, batch(), {{"policy", "failover"}, {"min-nodes", "1"}}), "none");
  EXPECT_THAT(refusal({}, batch(), {{"policy", "requeue"}, {"min-nodes", "1"}}),
              HasSubstr("--acrf-min-nodes=1: only with --acrf-policy=failover"));
  EXPECT_THAT(refusal({}, batch(), {{"policy", "requeue"}, {"spares", "1"}}),
              HasSubstr("only with --acrf-policy=failover"));
  EXPECT_THAT(refusal({}, batch(), {{"max-requeues", "9"}}),
              HasSubstr("this site allows at most 8"));
  EXPECT_THAT(refusal({}, batch(), {{"topology", "ring"}}), HasSubstr("--acrf-topology=ring"));
}

TEST(SitePolicy, TheFirstRuleThatFitsHolds) {
  const auto policy = site(
      "Policy=debug Partition=debug DefaultPolicy=none\n"
      "Policy=serving Partition=main Workload=inference MaxRequeues=2\n"
      "Policy=ml Partition=main,large Account=ml QOS=normal DefaultWorkload=training \\\n"
      "  MaxRequeues=3\n"
      "Policy=rest DefaultPolicy=requeue\n");
  EXPECT_EQ(resolve_policy(policy, batch(), {})->rule->name, "ml");
  EXPECT_EQ(resolve_policy(policy, batch(), {})->policy.workload, Workload::kTraining);
  EXPECT_EQ(resolve_policy(policy, batch(), {})->policy.max_requeues, 3);
  EXPECT_EQ(resolve_policy(policy, batch(), {{"workload", "inference"}})->rule->name, "serving");
  auto job = batch();
  job.account = "ML";
  EXPECT_EQ(resolve_policy(policy, job, {})->rule->name, "ml");
  job.account = "bio";
  EXPECT_EQ(resolve_policy(policy, job, {})->rule->name, "rest");
  EXPECT_EQ(resolve_policy(policy, job, {})->policy.recovery, RecoveryPolicy::kRequeue);
  job.partition = "debug";
  EXPECT_FALSE(resolve_policy(policy, job, {})->applies);
}

TEST(SitePolicy, UsersAreMatchedByNumber) {
  auto policy = site("Policy=u User=alice,1001 DefaultPolicy=requeue\n");
  policy.rules[0].uids = {1000, 1001};
  EXPECT_TRUE(resolve_policy(policy, batch(), {})->applies);
  auto job = batch();
  job.uid = 7;
  EXPECT_FALSE(resolve_policy(policy, job, {})->applies);
}

TEST(SitePolicy, LimitsAreRefusedWithTheRulesName) {
  const auto policy = site(
      "Policy=p MaxSpares=1 CheckpointRoots=/scratch,/ckpt/ MaxGpus=32 MaxTime=2:00:00 "
      "CheckpointOverGpus=16 CheckpointOverTime=90 OptOut=no ExcludeRisk=medium\n");
  auto job = batch();
  job.nodes = 8;
  EXPECT_THAT(refusal(policy, job, {{"policy", "failover"}, {"spares", "2"}}),
              HasSubstr("this site allows at most 1"));
  EXPECT_THAT(refusal(policy, batch(), {{"policy", "requeue"}, {"checkpoint-dir", "/home/x"}}),
              HasSubstr("must be below /scratch or /ckpt"));
  EXPECT_THAT(refusal(policy, batch(), {{"policy", "requeue"}, {"checkpoint-dir", "/ckptx"}}),
              HasSubstr("must be below"));
  EXPECT_EQ(refusal(policy, batch(), {{"policy", "requeue"}, {"checkpoint-dir", "/ckpt/a"}}),
            "none");
  auto interactive = batch();
  interactive.is_batch = false;
  EXPECT_EQ(refusal(policy, interactive, {}), "none");
  EXPECT_THAT(refusal(policy, batch(), {{"policy", "none"}}),
              AllOf(StartsWith("ACRF: such jobs must come back"), HasSubstr("policy p")));
  job = batch();
  job.gpus = 17;
  EXPECT_THAT(refusal(policy, job, {{"policy", "requeue"}}),
              HasSubstr("say where with --acrf-checkpoint-dir"));
  job = batch();
  job.time_limit_s = 91 * 60;
  EXPECT_THAT(refusal(policy, job, {{"policy", "requeue"}}), HasSubstr("must keep checkpoints"));
  job.time_limit_s = 121 * 60;
  EXPECT_THAT(refusal(policy, job, {{"policy", "requeue"}, {"checkpoint-dir", "/ckpt"}}),
              HasSubstr("at most 120 minutes"));
  job = batch();
  job.gpus = 33;
  EXPECT_THAT(refusal(policy, job, {{"policy", "requeue"}, {"checkpoint-dir", "/ckpt"}}),
              HasSubstr("at most 32 GPUs"));
}

TEST(SitePolicy, NobodySlipsOutOfARuleByNamingAnotherPartition) {
  const auto policy = site("Policy=p Partition=main MaxGpus=8\n");
  auto job = batch();
  job.partition = "other,main";
  EXPECT_THAT(refusal(policy, job, {}), HasSubstr("at most 8 GPUs"));
  job.partition = "other";
  EXPECT_EQ(refusal(policy, job, {}), "none");
}

TEST(SitePolicy, RiskIsTheMoreCarefulOfBoth) {
  const auto policy = site("Policy=p ExcludeRisk=medium\n");
  EXPECT_EQ(resolve_policy(policy, batch(), {})->policy.excluded_risk, 50);
  EXPECT_EQ(resolve_policy(policy, batch(), {{"exclude-risk", "high"}})->policy.excluded_risk, 50);
  EXPECT_EQ(resolve_policy(policy, batch(), {{"exclude-risk", "low"}})->policy.excluded_risk, 25);
}

TEST(SitePolicy, QuotasCountOtherJobs) {
  const auto policy = site("Policy=p MaxGpusPerUser=32 MaxGpusPerAccount=64\n");
  EXPECT_TRUE(check_quota(policy, batch(), std::nullopt, 16, 48).ok());
  EXPECT_THAT(check_quota(policy, batch(), std::nullopt, 17, 0).error().sentence,
              HasSubstr("one user may have at most 32 GPUs together, and have 17"));
  EXPECT_THAT(check_quota(policy, batch(), std::nullopt, 0, 49).error().sentence,
              HasSubstr("one account may have at most 64"));
}

TEST(SitePolicy, UsersCannotTakeAwayWhatTheSiteRequires) {
  const auto policy = site("Policy=p Partition=main OptOut=no MaxTime=60 MaxGpus=16\n");
  const auto change = [&](const JobFacts& before, const JobFacts& after, bool keeps = true) {
    return check_change(policy, before, after, std::nullopt, keeps).ok();
  };
  EXPECT_TRUE(change(batch(), batch()));
  EXPECT_THAT(check_change(policy, batch(), batch(), std::nullopt, false).error().sentence,
              HasSubstr("Requeue=0 is refused"));
  auto longer = batch(), larger = batch();
  longer.time_limit_s = 3601;
  larger.gpus = 17;
  EXPECT_FALSE(change(batch(), longer));
  EXPECT_FALSE(change(batch(), larger));
  // A job from before the line was there may be changed, and lowered, as it is.
  auto old = longer;
  old.time_limit_s = 0;
  EXPECT_TRUE(change(old, longer));
  EXPECT_TRUE(change(larger, larger));
  auto elsewhere = larger;
  elsewhere.partition = "other";
  EXPECT_FALSE(change(elsewhere, larger));
  EXPECT_TRUE(check_change({}, batch(), longer, std::nullopt, false).ok());
  const auto lenient = site("Policy=p OptOut=no DefaultPolicy=none\n");
  EXPECT_TRUE(check_change(lenient, batch(), batch(), std::nullopt, false).ok());
}

TEST(SitePolicy, CountsGpusInRequests) {
  EXPECT_EQ(gpus_in_request("gres:gpu:8"), 8);
  EXPECT_EQ(gpus_in_request("gres:gpu:h100:4,gres:nic:2,gres:gpu:a100:2"), 6);
  EXPECT_EQ(gpus_in_request("gres/gpu:2"), 2);
  EXPECT_EQ(gpus_in_request("gres:gpu"), 1);
  EXPECT_EQ(gpus_in_request("gres:gpux:4"), 0);
  EXPECT_EQ(gpus_in_request(""), 0);
}

TEST(PolicyRule, SaysWhatIsWrongAndWhere) {
  const auto problem = [](const std::string& line) {
    const auto config = parse_config("Mode=observe\n" + line + "\n", "acrf.conf");
    return config ? "none" : config.error().sentence;
  };
  EXPECT_EQ(problem("Policy=p Colour=red"), "acrf.conf:2: a Policy has no 'Colour'");
  EXPECT_EQ(problem("Policy=p MaxGpus=0"),
            "acrf.conf:2: MaxGpus=0: must be a whole number from 1 to 10000000");
  EXPECT_EQ(problem("Policy=p OptOut=maybe"), "acrf.conf:2: OptOut=maybe: must be yes or no");
  EXPECT_THAT(problem("Policy=p MaxTime=soon"), HasSubstr("MaxTime=soon: must be a time"));
  EXPECT_THAT(problem("Policy=p CheckpointRoots=a"), HasSubstr("must be absolute paths"));
  EXPECT_THAT(problem("Policy=p DefaultPolicy=always"),
              HasSubstr("must be none, requeue or failover"));
  EXPECT_THAT(problem("Policy=p User=a,,b"), HasSubstr("must be names"));
  EXPECT_THAT(problem("Policy= MaxGpus=1"), HasSubstr("a Policy needs a name"));
  EXPECT_THAT(problem("Policy=p QOS=a\nPolicy=p"), HasSubstr("Policy p is already on line 2"));
  EXPECT_THAT(problem("Policy=\"a#b\" MaxGpus=1"), HasSubstr("must not contain #"));
  EXPECT_THAT(problem("CheckpointSignal=KILL"), HasSubstr("must be USR1"));
}

TEST(PolicyRule, IsWrittenAsItIsRead) {
  const std::string line =
      "Policy=all Partition=a,b Account=c QOS=d User=e Workload=training DefaultPolicy=requeue "
      "DefaultWorkload=training OptOut=no ExcludeRisk=low MaxRequeues=0 MaxSpares=1 "
      "CheckpointRoots=/x CheckpointOverGpus=64 CheckpointOverTime=43200s MaxGpus=1024 "
      "MaxGpusPerUser=2048 MaxGpusPerAccount=4096 MaxTime=86400s";
  EXPECT_EQ(to_line(site(line + "\n").rules[0]), line);
}

}  // namespace
}  // namespace acrf
