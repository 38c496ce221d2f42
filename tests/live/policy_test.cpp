// SPDX-License-Identifier: GPL-2.0-or-later
// The site's policy and the budgets of requeues, as users and admins meet them.
#include <gmock/gmock.h>
#include <slurm/slurm_version.h>

#include "common/file.h"
#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Policies : public LiveCluster {
 protected:
  void start_with(const std::string& acrf_conf, int nodes = 2) {
    auto options = small();
    options.healthd = false;
    options.nodes = nodes;
    options.acrf_conf = acrf_conf;
    options.slurm_conf += "PartitionName=debug Nodes=ALL State=UP\n" + slurm_conf_;
    start(options);
  }
  CommandResult sbatch(std::vector<std::string> options, const std::string& command = "sleep 600") {
    options.insert(options.begin(), {"sbatch", "--parsable", "--output=/dev/null"});
    options.push_back("--wrap=" + command);
    return cluster().run(options);
  }
  std::string submit(std::vector<std::string> options, const std::string& command = "sleep 600") {
    const auto submitted = sbatch(std::move(options), command);
    EXPECT_TRUE(submitted.ok()) << submitted.errors;
    return std::string(trim(submitted.output));
  }
  std::string show(const std::string& id) {
    return cluster().run({"scontrol", "show", "job", id}).output;
  }
  void admin(std::vector<std::string> words) {
    words.insert(words.begin(), "scontrol");
    const auto done = cluster().run(words);
    EXPECT_TRUE(done.ok()) << done.errors;
  }
  bool runs(const std::string& id) {
    return wait_until([&] { return job(id).state == "RUNNING"; });
  }

  std::string slurm_conf_;
};

TEST_F(Policies, TheFirstLineThatFitsSaysWhatAJobGets) {
  start_with(
      "Policy=debug Partition=debug MaxGpus=4\n"
      "Policy=main DefaultPolicy=requeue MaxRequeues=3 CheckpointRoots=/scratch,/ckpt \\\n"
      "  CheckpointOverGpus=8 MaxSpares=0 ExcludeRisk=high\n");
  EXPECT_THAT(show(submit({"--hold"})),
              HasSubstr("acrf:policy=requeue,max-requeues=3,exclude-risk=high"));
  EXPECT_THAT(show(submit({"--hold", "--partition=debug"})), Not(HasSubstr("acrf:")));
  EXPECT_THAT(sbatch({"--partition=debug", "--gpus=5"}).errors,
              HasSubstr("a job may have at most 4 GPUs (policy debug of this site)"));
  EXPECT_THAT(sbatch({"--partition=main,debug", "--gpus=5"}).errors, HasSubstr("at most 4 GPUs"));
  EXPECT_THAT(sbatch({"--acrf-checkpoint-dir=/home/me"}).errors,
              HasSubstr("--acrf-checkpoint-dir=/home/me: must be below /scratch or /ckpt"));
  EXPECT_THAT(sbatch({"--gpus=9"}).errors, HasSubstr("say where with --acrf-checkpoint-dir=DIR"));
  EXPECT_TRUE(sbatch({"--gpus=9", "--acrf-checkpoint-dir=/ckpt/x", "--hold"}).ok());
  EXPECT_THAT(sbatch({"--acrf-max-requeues=4"}).errors, HasSubstr("allows at most 3"));
  EXPECT_THAT(sbatch({"--acrf-policy=failover", "--acrf-spares=1", "--nodes=2"}).errors,
              HasSubstr("--acrf-spares=1: this site allows at most 0"));
  const auto shown = cluster().run({"acrf", "conf", "show"}).output;
  EXPECT_THAT(shown, HasSubstr("Policy=debug Partition=debug MaxGpus=4 # line"));
  EXPECT_THAT(cluster().run({"acrf", "--json", "conf", "show"}).output,
              HasSubstr("\"CheckpointRoots\": \"/scratch,/ckpt\""));
}

TEST_F(Policies, AreReadAgainWithSlurmsOwnFilesAndNeverHalf) {
  start_with("Policy=p MaxGpus=4\n");
  EXPECT_FALSE(sbatch({"--gpus=5", "--hold"}).ok());
  const auto conf = cluster().path("etc/acrf.conf");
  const auto old = text_of(conf);
  ASSERT_TRUE(write_file(conf, old + "Policy=q MaxGpus=many\n", 0644).ok());
  admin({"reconfigure"});
  EXPECT_TRUE(wait_until([&] {
    return text_of(cluster().path("log/slurmctld.log"))
               .find("MaxGpus=many: must be a whole number from 1 to 10000000; going on with") !=
           std::string::npos;
  }));
  EXPECT_FALSE(sbatch({"--gpus=5", "--hold"}).ok());
  ASSERT_TRUE(cluster().restart_slurmctld().ok());
  EXPECT_THAT(sbatch({"--gpus=5", "--hold"}).errors, HasSubstr("at most 4 GPUs"));
  auto changed = old;
  changed.replace(changed.find("MaxGpus=4"), 9, "MaxGpus=6");
  ASSERT_TRUE(write_file(conf, changed, 0644).ok());
  // slurmctld tells one reading from the next by the second.
  EXPECT_TRUE(wait_until([&] {
    admin({"reconfigure"});
    return sbatch({"--gpus=5", "--hold"}).ok();
  }));
  EXPECT_FALSE(sbatch({"--gpus=7", "--hold"}).ok());
}

TEST_F(Policies, GpusOfAUsersJobsAreCounted) {
  start_with("Policy=p MaxGpusPerUser=8\n");
  const auto first = submit({"--gpus=6"});
  EXPECT_THAT(sbatch({"--gpus=3"}).errors,
              HasSubstr("the jobs of one user may have at most 8 GPUs together, and have 6"));
  EXPECT_FALSE(sbatch({"--gpus=1", "--array=0-2", "--hold"}).ok());
  EXPECT_TRUE(sbatch({"--gpus=1", "--array=0-1", "--hold"}).ok());
  EXPECT_FALSE(sbatch({"--gpus=1", "--hold"}).ok());
  ASSERT_TRUE(cluster().run({"scancel", first}).ok());
  EXPECT_TRUE(wait_until([&] { return sbatch({"--gpus=3", "--hold"}).ok(); }));
}

TEST_F(Policies, UsersCannotTakeAwayWhatTheSiteRequiresAndAdminsCan) {
  if (const auto why = closed_to_users(); !why.empty()) GTEST_SKIP() << why;
  start_with("Policy=p DefaultPolicy=requeue OptOut=no MaxTime=2:00:00\n");
  EXPECT_THAT(sbatch({"--time=60", "--acrf-policy=none"}).errors,
              HasSubstr("such jobs must come back after a fault"));
  EXPECT_THAT(sbatch({"--time=60", "--no-requeue"}).errors,
              HasSubstr("such jobs must come back after a fault"));
  EXPECT_THAT(sbatch({}).errors, HasSubstr("a time limit of at most 120 minutes"));
  const std::vector<std::string> as_user = {"setpriv", "--reuid=65534", "--regid=65534",
                                            "--clear-groups"};
  const auto user = [&](std::vector<std::string> command) {
    command.insert(command.begin(), as_user.begin(), as_user.end());
    return cluster().run(command);
  };
  const auto submitted = user({"sbatch", "--parsable", "--output=/dev/null", "--hold", "--chdir=/",
                               "--time=60", "--wrap=true"});
  ASSERT_TRUE(submitted.ok()) << submitted.errors;
  const auto id = "JobId=" + std::string(trim(submitted.output));
  const auto refused = user({"scontrol", "update", id, "Requeue=0"});
  EXPECT_FALSE(refused.ok());
  if (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)) {  // 22.05: only the log has the reason
    EXPECT_THAT(refused.errors, HasSubstr("such jobs must come back after a fault: Requeue=0"));
  }
  EXPECT_FALSE(user({"scontrol", "update", id, "TimeLimit=3:00:00"}).ok());
  EXPECT_TRUE(user({"scontrol", "update", id, "TimeLimit=30"}).ok());
  EXPECT_THAT(text_of(cluster().path("log/slurmctld.log")),
              HasSubstr("refused: ACRF: such jobs must come back after a fault: Requeue=0"));
  admin({"update", id, "Requeue=0"});
  admin({"update", id, "TimeLimit=3:00:00"});
}

TEST_F(Policies, TrainingIsToldBeforeItsTimeIsUp) {
  start_with("CheckpointSignalTime=6\n");
  const auto out = cluster().path("signal.out");
  const auto submitted = cluster().run(
      {"sbatch", "--parsable", "--output=" + out, "--time=1", "--acrf-workload=training",
       "--acrf-checkpoint-dir=" + checkpoints(),
       "--wrap=srun bash -c \"trap 'echo told; exit 0' USR1; while :; do sleep 0.1; done\""});
  ASSERT_TRUE(submitted.ok()) << submitted.errors;
  EXPECT_TRUE(wait_until([&] { return text_of(out).find("told") != std::string::npos; },
                         std::chrono::seconds(90)))
      << text_of(out);
}

TEST_F(Policies, EachCauseOfARequeueHasItsOwnBudget) {
  slurm_conf_ =
      "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
      "PartitionName=high Nodes=ALL PriorityTier=10 State=UP\n";
  start_with("RequeueBackoff=0\n");
  const auto low = submit(
      {"--nodes=1", "--gpus=8", "--nodelist=n1", "--acrf-policy=requeue", "--acrf-max-requeues=1"});
  ASSERT_TRUE(runs(low));
  for (int times = 1; times <= 2; ++times) {
    const auto high = submit({"--partition=high", "--gpus=8", "--nodelist=n1"});
    ASSERT_TRUE(runs(high));
    EXPECT_TRUE(wait_until([&] {
      return show(low).find("preemption=" + std::to_string(times)) != std::string::npos;
    })) << show(low);
    ASSERT_TRUE(cluster().run({"scancel", high}).ok());
    ASSERT_TRUE(runs_again(low, times)) << show(low);
  }
  const auto lose_node = [&] {
    admin({"update", "NodeName=n1", "State=DRAIN", "Reason=ACRF: gpu_lost GPU0 drain [x]"});
    admin({"requeue", low});
  };
  lose_node();
  EXPECT_TRUE(wait_until([&] {
    return show(low).find("hardware=1,preemption=2") != std::string::npos;
  })) << show(low);
  admin({"update", "NodeName=n1", "State=RESUME"});
  ASSERT_TRUE(runs_again(low, 3)) << show(low);
  ASSERT_TRUE(cluster().restart_slurmctld().ok());
  ASSERT_TRUE(runs(low));
  ASSERT_TRUE(wait_until([&] {
    return cluster().run({"sinfo", "-h", "-N", "-t", "unk"}).output == "";
  }));
  lose_node();
  EXPECT_TRUE(wait_until([&] {
    return show(low).find("Reason=ACRF:_no_restart_left_of_1_because_of_hardware") !=
           std::string::npos;
  })) << show(low);
  EXPECT_TRUE(wait_until([&] { return job(low).state == "PENDING"; })) << show(low);
}

TEST_F(Policies, AProgramThatFailsEverywhereIsHeldAndOneThatSaysSoIsLeft) {
  start_with("MaxApplicationRequeues=5\nRequeueBackoff=0\n", 4);
  const auto poison = submit({"--acrf-policy=requeue", "--gpus=8"}, "exit 7");
  const auto says_no = submit({"--acrf-policy=requeue", "--gpus=1"}, "exit 93");
  const auto untouched = submit({"--gpus=1"}, "exit 7");
  // A slurmctld that is restarted no longer knows the nodes of what had ended, but by name.
  ASSERT_TRUE(wait_until([&] { return job(poison).state == "FAILED"; })) << show(poison);
  ASSERT_TRUE(cluster().restart_slurmctld().ok());
  EXPECT_TRUE(wait_until(
      [&] {
        return show(poison).find("failed_with_status_7_on_3_different_nodes") != std::string::npos;
      },
      std::chrono::seconds(120)))
      << show(poison);
  EXPECT_EQ(job(poison).state, "PENDING");
  EXPECT_THAT(show(poison), HasSubstr("application=3,failed=7@"));
  EXPECT_EQ(job(says_no).state, "FAILED");
  EXPECT_EQ(job(says_no).restarts, 0);
  EXPECT_EQ(job(untouched).restarts, 0);
}

}  // namespace
}  // namespace acrf::minicluster
