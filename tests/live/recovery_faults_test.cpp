// SPDX-License-Identifier: GPL-2.0-or-later
// Faults that take more than a GPU with them: a slurmd that hangs, a node that freezes, a
// slurmctld that dies young, many requeues at once; and the bugs of Slurm 22.05 that lie there.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "build_paths.h"
#include "common/file.h"
#include "core/text.h"
#include "locked_ranks.h"
#include "minicluster/node_processes.h"

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class RecoveryFaults : public LockedRanks {};

// An srun or a slurmstepd of the last run may speak of its step when the next run is at work.
TEST_F(RecoveryFaults, WhatIsSaidOfAStepOfTheLastRunDoesNotConcernTheNext) {
  start(small());
  const auto id = submit_ranks();
  ASSERT_TRUE(began(0)) << text_of(output());
  inject(job(id).nodes.back());
  ASSERT_TRUE(began(1)) << job(id).state << " " << text_of(output());
  EXPECT_EQ(text_of(root_ + "/step-0"), "0\n");
  EXPECT_EQ(text_of(root_ + "/step-1"), "1\n");
  cluster().run({"scancel", "--signal=KILL", id + ".0"});
  EXPECT_THAT(cluster().run({"squeue", "-h", "-s", "-j", id, "-o", "%i"}).output,
              HasSubstr(id + ".1"));
}

// The first node has the job's script too, the last one only a rank.
class HungSlurmd : public RecoveryFaults, public testing::WithParamInterface<bool> {
 protected:
  std::string broken_node(const std::string& id) {
    return GetParam() ? job(id).nodes.front() : job(id).nodes.back();
  }
};
INSTANTIATE_TEST_SUITE_P(Nodes, HungSlurmd, testing::Bool(),
                         [](const auto& node) { return node.param ? "OfTheScript" : "OfARank"; });

TEST_P(HungSlurmd, LosesItsJobToOthersWithNothingOfItLeft) {
  auto options = small();
  options.acrf_conf = "PeerSilence=1\nSlurmdSilence=2\nTestProgram=/bin/true\n";
  start(options);
  const auto id = submit_ranks();
  ASSERT_TRUE(began(0)) << text_of(output());
  const auto frozen = broken_node(id);
  ASSERT_TRUE(cluster().signal("slurmd-" + frozen, SIGSTOP).ok());
  ASSERT_TRUE(began(1)) << job(id).state << " " << text_of(output());
  EXPECT_EQ(text_of(root_ + "/twice"), "") << "the old rank was still there";
  EXPECT_THAT(job(id).nodes, Not(Contains(frozen)));
  EXPECT_THAT(record(frozen), AllOf(HasSubstr("DRAIN"), HasSubstr("NOT_RESPONDING"),
                                    HasSubstr("ACRF: slurmd_hung node drain [" + frozen)));
  ASSERT_TRUE(cluster().signal("slurmd-" + frozen, SIGCONT).ok());
  EXPECT_TRUE(healthd_says(frozen, "is back in service, on probation"));
  EXPECT_EQ(job(id).state, "RUNNING");
  EXPECT_EQ(job(id).restarts, 1);
}

TEST_P(HungSlurmd, IsLeftByTheJobOfABrokenGpu) {
  start(small());
  const auto id = submit_ranks();
  ASSERT_TRUE(began(0)) << text_of(output());
  const auto broken = broken_node(id);
  ASSERT_TRUE(cluster().signal("slurmd-" + broken, SIGSTOP).ok());
  inject(broken);
  ASSERT_TRUE(began(1)) << job(id).state << " " << text_of(output());
  EXPECT_EQ(text_of(root_ + "/twice"), "") << "the old rank was still there";
  EXPECT_THAT(job(id).nodes, Not(Contains(broken)));
  EXPECT_TRUE(node_says(broken, "NOT_RESPONDING"));
  // When it wakes up and does what it was asked to, the new run is not touched.
  ASSERT_TRUE(cluster().signal("slurmd-" + broken, SIGCONT).ok());
  ASSERT_TRUE(wait_until([&] {
    return cluster().run({"scontrol", "ping"}).ok() &&
           cluster().run({"scontrol", "show", "node", broken}).output.find("NOT_RESPONDING") ==
               std::string::npos;
  }));
  ASSERT_TRUE(healthd_says(broken, "closed: node drained"));
  EXPECT_EQ(job(id).state, "RUNNING");
  EXPECT_EQ(job(id).restarts, 1);
}

// The slurmstepds of many nodes report along a tree, with the first node at its root. Those below a
// node that is gone would try for a minute to reach it, and those above wait a minute for it.
class ReportTree : public RecoveryFaults {
 protected:
  std::string submit_many() {
    auto options = small();
    options.nodes = 9;
    options.acrf_conf = "PeerSilence=1\n";
    start(options);
    for (const auto& name : cluster().nodes()) EXPECT_TRUE(healthd_says(name, "hears all "));
    const auto id = submit_ranks({"-N8"});
    EXPECT_TRUE(began(0, 8)) << text_of(output());
    return id;
  }
  void expect_soon_back(const std::string& id) {
    EXPECT_TRUE(began(1, 8, std::chrono::seconds(40))) << job(id).state << text_of(output());
    EXPECT_EQ(text_of(root_ + "/twice"), "") << "an old rank was still there";
  }
};

TEST_F(ReportTree, IsNotWaitedForWhenItsRootHangs) {
  const auto id = submit_many();
  const auto broken = job(id).nodes.front();
  ASSERT_TRUE(cluster().signal("slurmd-" + broken, SIGSTOP).ok());
  inject(broken);
  expect_soon_back(id);
}

TEST_F(ReportTree, IsNotWaitedForWhenOneOfItsNodesDies) {
  const auto id = submit_many();
  ASSERT_TRUE(signal_node(root_, job(id).nodes.back(), SIGKILL).ok());
  expect_soon_back(id);
}

// slurmctld's own word is not enough: the node may live, and still be ending the old run.
TEST_F(RecoveryFaults, AJobWaitsForANodeThatDoesNotRespondUntilHealthdSaysThatItHasLeft) {
  auto options = small();
  options.healthd = false;
  start(options);
  const auto id = submit_ranks();
  ASSERT_TRUE(began(0)) << text_of(output());
  const auto broken = job(id).nodes.back();
  ASSERT_TRUE(cluster().signal("slurmd-" + broken, SIGSTOP).ok());
  admin({"update", "NodeName=" + broken, "State=DRAIN", "Reason=ACRF: gpu_lost GPU 0 drain [x]"});
  admin({"requeue", id});
  const auto waits_for_broken = [&] {
    return cluster().run({"squeue", "-h", "-j", id, "-o", "%T %N"}).output ==
           "COMPLETING " + broken + "\n";
  };
  ASSERT_TRUE(wait_until(waits_for_broken));
  admin({"update", "NodeName=" + broken, "State=NoResp"});
  ASSERT_TRUE(node_says(broken, "NOT_RESPONDING"));
  // Meanwhile another job is followed from its requeue to its release.
  const auto other =
      cluster().run({"sbatch", "--parsable", "--output=/dev/null", "--gpus-per-node=8",
                     "--exclude=" + broken, "--acrf-policy=requeue", "--wrap=sleep 600"});
  ASSERT_TRUE(other.ok()) << other.errors;
  const std::string other_id(trim(other.output));
  ASSERT_TRUE(wait_until([&] { return job(other_id).state == "RUNNING"; }));
  admin({"requeue", other_id});
  ASSERT_TRUE(runs_again(other_id, 1));
  EXPECT_TRUE(waits_for_broken());
  EXPECT_TRUE(node_says(broken, "NOT_RESPONDING"));

  const auto said = cluster().run({ACRF_BUILD "/tests/node_update", "left", broken, id});
  ASSERT_TRUE(said.ok()) << said.errors;
  ASSERT_TRUE(began(1)) << job(id).state;
  EXPECT_TRUE(controller_says("no longer waits for node " + broken));
  ASSERT_TRUE(cluster().signal("slurmd-" + broken, SIGCONT).ok());
}

// 22.05 then forgets to finish the requeue: the next run would start with what is left of the last.
TEST_F(RecoveryFaults, ANodeThatGoesDownWhileItsJobCompletesDoesNotSpoilTheNextRun) {
  auto options = small();
  options.healthd = false;
  options.slurm_conf = "SchedulerParameters=bf_interval=1\n";
  start(options);
  const auto id = submit_ranks();
  ASSERT_TRUE(began(0)) << text_of(output());
  const auto broken = job(id).nodes.back();
  ASSERT_TRUE(cluster().signal("slurmd-" + broken, SIGSTOP).ok());
  admin({"requeue", id});
  ASSERT_TRUE(wait_until([&] {
    return cluster().run({"squeue", "-h", "-j", id, "-o", "%T %N"}).output ==
           "COMPLETING " + broken + "\n";
  })) << cluster().run({"squeue", "-h", "-j", id, "-o", "%T %N"}).output;
  admin({"update", "NodeName=" + broken, "State=DOWN", "Reason=dead"});
  ASSERT_TRUE(began(1)) << text_of(output()) << job(id).state;
  EXPECT_THAT(text_of(root_ + "/began-1"), HasSubstr("0,1,2,3,4,5,6,7"));
  EXPECT_THAT(text_of(cluster().path("log/slurmctld.log")), HasSubstr("Requeuing JobId=" + id));
  ASSERT_TRUE(cluster().signal("slurmd-" + broken, SIGCONT).ok());
}

// Backfill starts jobs without asking for a state save: who crashes then has forgotten the start.
TEST_F(RecoveryFaults, AYoungJobThatBackfillStartedSurvivesACrashOfSlurmctld) {
  auto options = small();
  options.healthd = false;
  options.slurm_conf = "SchedulerParameters=bf_interval=1,sched_interval=-1,defer\n";
  start(options);
  const auto saved = [&] {
    std::error_code error;
    return fs::last_write_time(root_ + "/state/job_state", error);
  };
  const auto id = submit_ranks();
  ASSERT_TRUE(began(0)) << text_of(output());
  const auto before = saved();
  ASSERT_TRUE(wait_until([&] { return saved() > before; }));
  ASSERT_TRUE(cluster().kill("slurmctld").ok());
  ASSERT_TRUE(cluster().start_slurmctld().ok());
  ASSERT_TRUE(wait_until([&] {
    return cluster().run({"sinfo", "-h", "-N", "-t", "unk"}).output.empty();
  }));
  EXPECT_EQ(job(id).state, "RUNNING");
  EXPECT_EQ(job(id).restarts, 0);
  EXPECT_EQ(lines_in("began-1"), 0U);
}

// The node freezes as a whole, its job runs again elsewhere, and then it wakes up.
TEST_F(RecoveryFaults, ANodeThatWakesUpCannotPublishOverTheNewRun) {
  auto options = small();
  options.healthd = false;
  start(options);
  const auto script = root_ + "/writer";
  ASSERT_TRUE(write_file(script,
                         "#!/bin/bash\ntrap '' TERM\ncd " + root_ +
                             "\nrun=${SLURM_RESTART_COUNT:-0}\n"
                             "for ((step = 1; ; step++)); do\n"
                             "  draft=$ACRF_CHECKPOINT_DIR/.draft-$run-$step\n"
                             "  mkdir $draft && echo $ACRF_FENCE >$draft/fence\n"
                             "  acrf checkpoint publish $draft --as step-$step >>out-$run 2>&1\n"
                             "  echo status $? >>log-$run\n"
                             "  sleep 0.2\n"
                             "done\n",
                         0755)
                  .ok());
  const auto submitted =
      cluster().run({"sbatch", "--parsable", "--output=" + output(), "--gpus-per-node=8",
                     "--acrf-policy=requeue", "--acrf-checkpoint-dir=" + checkpoints(), script});
  ASSERT_TRUE(submitted.ok()) << submitted.errors;
  const std::string id(trim(submitted.output));
  const auto says = [&](const std::string& file, const std::string& text) {
    return wait_until([&] { return text_of(root_ + "/" + file).find(text) != std::string::npos; },
                      std::chrono::seconds(60));
  };
  ASSERT_TRUE(says("log-0", "status 0\nstatus 0\n")) << text_of(root_ + "/out-0");
  const auto frozen = job(id).nodes.front();
  ASSERT_TRUE(signal_node(root_, frozen, SIGSTOP).ok());
  admin({"update", "NodeName=" + frozen, "State=DOWN", "Reason=frozen"});
  ASSERT_TRUE(says("log-1", "status 0\nstatus 0\n")) << text_of(root_ + "/out-1");
  const auto old_attempts = lines_in("log-0");
  ASSERT_TRUE(signal_node(root_, frozen, SIGCONT).ok());
  ASSERT_TRUE(wait_until([&] { return lines_in("log-0") > old_attempts + 1; }));
  EXPECT_THAT(text_of(root_ + "/log-0"), HasSubstr("status 1\n"));
  EXPECT_THAT(text_of(root_ + "/out-0"), HasSubstr("restart"));
  const auto new_steps = lines_in("log-1");
  for (std::size_t step = 1; step <= new_steps; ++step)
    EXPECT_EQ(text_of(checkpoints() + "/step-" + std::to_string(step) + "/fence"), id + ".1\n");
}

TEST_F(RecoveryFaults, RequeuesPerMinuteAreBoundedAcrossTheCluster) {
  auto options = small();
  options.healthd = false;
  options.acrf_conf = "RequeuesPerMinute=4\nRequeueBackoff=0\n";
  start(options);
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    const auto submitted = cluster().run({"sbatch", "--parsable", "--output=/dev/null", "--gpus=1",
                                          "--acrf-policy=requeue", "--wrap=sleep 600"});
    ASSERT_TRUE(submitted.ok()) << submitted.errors;
    ids.emplace_back(trim(submitted.output));
  }
  const auto running = [&](int restarts) {
    return std::count_if(ids.begin(), ids.end(), [&](const std::string& id) {
      const auto look = job(id);
      return look.state == "RUNNING" && look.restarts == restarts;
    });
  };
  ASSERT_TRUE(wait_until([&] { return running(0) == 5; }));
  for (const auto& id : ids) admin({"requeue", id});
  ASSERT_TRUE(wait_until([&] { return running(1) == 4; }));
  const auto waiting = std::find_if(ids.begin(), ids.end(), [&](const std::string& id) {
    return job(id).state == "PENDING" && job(id).reason == "BeginTime";
  });
  EXPECT_NE(waiting, ids.end());
  // The fifth follows as the minute moves on, long before Slurm's own two minutes.
  EXPECT_TRUE(wait_until([&] { return running(1) == 5; }, std::chrono::seconds(60)));
}

// Each replica is below a switch of its own, and so is the one that comes back.
TEST_F(RecoveryFaults, OfAnArrayOfReplicasOnlyTheFailingOneRestartsAndApartFromTheOthers) {
  auto options = small();
  options.nodes = 6;
  options.topology =
      "SwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n[3-4]\nSwitchName=l3 Nodes=n[5-6]\n"
      "SwitchName=top Switches=l[1-3]\n";
  start(options);
  const auto submitted =
      cluster().run({"sbatch", "--parsable", "--output=/dev/null", "-N1", "--gpus-per-node=8",
                     "--array=0-2", "--acrf-workload=inference", "--wrap=sleep 600"});
  ASSERT_TRUE(submitted.ok()) << submitted.errors;
  const std::string array(trim(submitted.output));
  const auto replica = [&](int task) { return job(array + "_" + std::to_string(task)); };
  const auto all_run = [&] {
    return wait_until([&] {
      return replica(0).state == "RUNNING" && replica(1).state == "RUNNING" &&
             replica(2).state == "RUNNING";
    });
  };
  const auto switches = [&] {
    std::set<int> used;
    for (int task = 0; task < 3; ++task)
      used.insert((std::stoi(replica(task).nodes.front().substr(1)) - 1) / 2);
    return used.size();
  };
  ASSERT_TRUE(all_run());
  EXPECT_EQ(switches(), 3U);
  const auto broken = replica(1).nodes.front();
  inject(broken);
  ASSERT_TRUE(wait_until([&] { return replica(1).restarts == 1; }));
  ASSERT_TRUE(all_run());
  EXPECT_NE(replica(1).nodes.front(), broken);
  EXPECT_EQ(switches(), 3U);
  EXPECT_EQ(replica(0).restarts, 0);
  EXPECT_EQ(replica(2).restarts, 0);
}

}  // namespace
}  // namespace acrf::minicluster
