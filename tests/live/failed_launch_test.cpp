// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs that a node cannot launch: Slurm requeues and holds them, and ACRF brings its own back.
// Holds of people stay.
#include <gmock/gmock.h>

#include "common/file.h"
#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::HasSubstr;

constexpr char kHeldBySlurm[] = "launch_failed_requeued_held";

class FailedLaunch : public LiveCluster {
 protected:
  // A cluster whose prolog fails as often as it is told, and says where.
  void start_with_prolog(const std::string& acrf_conf = "", bool enforce = true) {
    auto options = small();
    options.healthd = false;
    options.enforce = enforce;
    options.acrf_conf = acrf_conf;
    const auto prolog = program("prolog", "#!/bin/sh\ncd " + root_ +
                                              "\nfor failure in fail-*; do\n"
                                              "  rm $failure 2>/dev/null || exit 0\n"
                                              "  echo $SLURMD_NODENAME >>failed-on\n"
                                              "  exit 1\n"
                                              "done\n");
    options.slurm_conf += "Prolog=" + prolog + "\n";
    start(options);
  }

  void let_launches_fail(int times) {
    for (int i = 1; i <= times; ++i)
      EXPECT_TRUE(write_file(root_ + "/fail-" + std::to_string(i), "").ok());
  }

  std::string submit(const std::vector<std::string>& options) {
    std::vector<std::string> command = {"sbatch", "--parsable", "--output=/dev/null", "-N1",
                                        "--gpus-per-node=8"};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back("--wrap=sleep 600");
    const auto submitted = cluster().run(command);
    EXPECT_TRUE(submitted.ok()) << submitted.errors;
    return std::string(trim(submitted.output));
  }

  bool waits_with(const std::string& id, const std::string& reason) {
    return wait_until([&] {
      const auto look = job(id);
      return look.state == "PENDING" && look.reason.find(reason) != std::string::npos;
    });
  }

  void admin(std::vector<std::string> words) {
    words.insert(words.begin(), "scontrol");
    const auto done = cluster().run(words);
    EXPECT_TRUE(done.ok()) << done.errors;
  }

  // From Slurm's delay, which says nothing about holds.
  bool is_released(const std::string& id) {
    return wait_until([&] {
      return text_of(cluster().path("log/slurmctld.log")).find("released JobId=" + id) !=
             std::string::npos;
    });
  }

  std::string comment(const std::string& id) {
    return cluster().run({"scontrol", "show", "job", id}).output;
  }
};

TEST_F(FailedLaunch, AJobThatItsNodeCannotLaunchRunsElsewhere) {
  start_with_prolog();
  let_launches_fail(1);
  const auto id = submit({"--acrf-policy=requeue"});
  ASSERT_TRUE(runs_again(id, 1)) << job(id).state << " " << job(id).reason;
  const std::string failed(trim(text_of(root_ + "/failed-on")));
  EXPECT_NE(job(id).nodes.front(), failed);
  EXPECT_THAT(comment(id), HasSubstr("acrf-requeues:seen=1,node=1"));
}

TEST_F(FailedLaunch, AJobThatCannotBeLaunchedAnywhereIsHeldWhenItsBudgetIsUsedUp) {
  start_with_prolog("MaxNodeRequeues=1\n");
  let_launches_fail(4);
  const auto id = submit({"--acrf-policy=requeue"});
  ASSERT_TRUE(waits_with(id, "ACRF:")) << job(id).reason;
  EXPECT_EQ(job(id).restarts, 2);
  EXPECT_THAT(job(id).reason, HasSubstr("no_restart_left_of_1_because_of_node"));
}

TEST_F(FailedLaunch, AJobWithoutAPolicyStaysHeldAsInPlainSlurm) {
  start_with_prolog();
  let_launches_fail(1);
  const auto plain = submit({"--requeue"});
  ASSERT_TRUE(waits_with(plain, kHeldBySlurm)) << job(plain).reason;
  // One of ACRF's, which comes back, shows that its thread was there.
  const auto id = submit({"--acrf-policy=requeue"});
  ASSERT_TRUE(runs_again(id, 0));
  admin({"requeue", id});
  ASSERT_TRUE(runs_again(id, 1));
  EXPECT_THAT(job(plain).reason, HasSubstr(kHeldBySlurm));
}

TEST_F(FailedLaunch, WithModeObserveTheHoldStays) {
  start_with_prolog("", false);
  let_launches_fail(1);
  const auto id = submit({"--acrf-policy=requeue"});
  ASSERT_TRUE(is_released(id));
  EXPECT_THAT(job(id).reason, HasSubstr(kHeldBySlurm));
}

TEST_F(FailedLaunch, AHoldOfPeopleIsNotLifted) {
  start_with_prolog();
  const auto id = submit({"--acrf-policy=requeue"});
  ASSERT_TRUE(runs_again(id, 0));
  admin({"requeuehold", id});
  ASSERT_TRUE(is_released(id));
  EXPECT_EQ(job(id).state, "PENDING");
  EXPECT_THAT(job(id).reason, HasSubstr("job_requeued_in_held_state"));
}

}  // namespace
}  // namespace acrf::minicluster
