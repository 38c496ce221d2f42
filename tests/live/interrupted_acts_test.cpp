// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-healthd or slurmctld is killed right before the rarer acts: a lost node goes down, a hung
// slurmd's job is said to have left, a node is rebooted, a replacement is asked for. Each goes on
// where it was: nothing is lost, nothing is done twice.
#include <gmock/gmock.h>
#include <signal.h>

#include "common/file.h"
#include "locked_ranks.h"
#include "minicluster/node_processes.h"

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

enum class Killed { kHealthd, kSlurmctld };

class InterruptedAct : public LockedRanks, public testing::WithParamInterface<Killed> {
 protected:
  ClusterOptions held_cluster(const std::string& acrf_conf) {
    auto options = holding();
    options.slurm_conf += "MessageTimeout=2\n";
    options.acrf_conf = acrf_conf;
    return options;
  }

  // While the node's daemon is held at the step, kills the one or the other, and has it back.
  void interrupt(const std::string& step, const std::string& node) {
    const std::string daemon = GetParam() == Killed::kHealthd ? "healthd-" + node : "slurmctld";
    ASSERT_TRUE(cluster().kill(daemon).ok());
    let_go(step);
    let_go(step, node);
    if (GetParam() == Killed::kHealthd)
      ASSERT_TRUE(cluster().start_healthd(node).ok());
    else
      ASSERT_TRUE(cluster().start_slurmctld().ok());
  }

  // A node's daemon that stops there, whichever comes first.
  std::string held_node(const std::string& step) {
    std::string found;
    wait_until(
        [&] {
          for (const auto& name : cluster().nodes())
            if (fs::exists(root_ + "/run/held." + step + "." + name)) found = name;
          return !found.empty();
        },
        std::chrono::seconds(60));
    return found;
  }

  void expect_restarted_once(const std::string& id, const std::string& broken) {
    ASSERT_TRUE(began(1)) << job(id).state << " " << record(broken);
    EXPECT_TRUE(began_from(1, 7)) << text_of(root_ + "/from-1");
    EXPECT_THAT(job(id).nodes, Not(Contains(broken)));
    EXPECT_TRUE(completes(id)) << job(id).state;
    EXPECT_EQ(job(id).restarts, 1);
    EXPECT_EQ(lines_in("began-2"), 0U);
    EXPECT_EQ(twice(), "");
  }

  int lines_of(const std::string& file) {
    const auto text = text_of(programs() + "/" + file);
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }
};

INSTANTIATE_TEST_SUITE_P(Killed, InterruptedAct,
                         testing::Values(Killed::kHealthd, Killed::kSlurmctld),
                         [](const auto& killed) {
                           return killed.param == Killed::kHealthd ? "Healthd" : "Slurmctld";
                         });

TEST_P(InterruptedAct, ALostNodeGoesDownAndItsJobRunsElsewhere) {
  start(held_cluster("PeerSilence=1\nTestProgram=/bin/true\n"));
  for (const auto& name : cluster().nodes()) ASSERT_TRUE(healthd_says(name, "hears all "));
  const auto id = submit_with_checkpoints();
  ASSERT_TRUE(began(0)) << text_of(output());
  ASSERT_TRUE(job_state_is_saved());
  const auto lost = job(id).nodes.back();
  hold("down");
  ASSERT_TRUE(signal_node(root_, lost, SIGKILL).ok());
  const auto watcher = held_node("down");
  ASSERT_FALSE(watcher.empty()) << record(lost);
  ASSERT_NO_FATAL_FAILURE(interrupt("down", watcher));
  expect_restarted_once(id, lost);
  EXPECT_THAT(record(lost), AllOf(HasSubstr("DOWN"), HasSubstr("DRAIN"),
                                  HasSubstr("ACRF: node_lost node drain [" + lost)));
}

TEST_P(InterruptedAct, AJobLeavesANodeWhoseSlurmdHangs) {
  start(held_cluster(""));
  const auto id = submit_with_checkpoints();
  ASSERT_TRUE(began(0)) << text_of(output());
  ASSERT_TRUE(job_state_is_saved());
  const auto broken = job(id).nodes.back();
  hold("not_responding", broken);
  ASSERT_TRUE(cluster().signal("slurmd-" + broken, SIGSTOP).ok());
  inject(broken);
  ASSERT_TRUE(is_held("not_responding", broken)) << record(broken);
  ASSERT_NO_FATAL_FAILURE(interrupt("not_responding", broken));
  expect_restarted_once(id, broken);
  EXPECT_THAT(record(broken), AllOf(HasSubstr("NOT_RESPONDING"), HasSubstr("ACRF: gpu_lost")));
  ASSERT_TRUE(cluster().signal("slurmd-" + broken, SIGCONT).ok());
}

TEST_P(InterruptedAct, ANodeIsRebootedOnceAndComesBack) {
  const auto reboot = program("reboot", "echo $5 >> " + programs() + "/reboots\n");
  start(held_cluster("RebootTimeLimit=12\nProbationTime=3\nRebootProgram=" + reboot +
                     "\nTestProgram=/bin/true\n"));
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  hold("run.reboot", "n1");
  inject("n1");
  ASSERT_TRUE(is_held("run.reboot", "n1")) << record("n1");
  ASSERT_NO_FATAL_FAILURE(interrupt("run.reboot", "n1"));
  ASSERT_TRUE(wait_until([&] { return lines_of("reboots") > 0; }));
  inject_fault("n1", {"--repair"});
  reboot_node("n1", 1);
  ASSERT_TRUE(healthd_says("n1", "is back in service, on probation"));
  EXPECT_TRUE(wait_until([&] { return !node("n1").drained; })) << record("n1");
  EXPECT_EQ(lines_of("reboots"), 1);
}

TEST_P(InterruptedAct, AReplacementIsAskedForOnce) {
  const auto replace = program("replace", "echo $2 >> " + programs() + "/wanted\n");
  start(held_cluster("ReplaceProgram=" + replace + "\nTestProgram=/bin/true\n"));
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  hold("run.replace", "n1");
  inject_fault("n1", {"--fault", "remap-failure"});
  ASSERT_TRUE(is_held("run.replace", "n1")) << record("n1");
  ASSERT_NO_FATAL_FAILURE(interrupt("run.replace", "n1"));
  ASSERT_TRUE(wait_until([&] { return lines_of("wanted") > 0; }));
  // Whoever begins after that knows that it was.
  ASSERT_TRUE(healthd_says("n1", "the program succeeded"));
  ASSERT_TRUE(cluster().kill("healthd-n1").ok());
  ASSERT_TRUE(cluster().start_healthd("n1").ok());
  ASSERT_TRUE(wait_until([&] {
    return cluster().healthd_life("n1").find("is rma; taken up again") != std::string::npos;
  }));
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  EXPECT_EQ(lines_of("wanted"), 1);
  EXPECT_TRUE(node("n1").drained);
}

}  // namespace
}  // namespace acrf::minicluster
