// SPDX-License-Identifier: GPL-2.0-or-later
// Two controllers: the first is killed while ACRF is at work, the backup takes over. What was done
// is there afterwards, what was not is done, and nothing twice.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>

#include "common/file.h"
#include "core/text.h"
#include "locked_ranks.h"
#include "minicluster/node_processes.h"

namespace acrf::minicluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// What people are promised.
constexpr seconds kAfterTakeover{30};

class Takeover : public LockedRanks {
 protected:
  ClusterOptions pair(const std::string& acrf_conf = "") {
    auto options = holding();
    options.backup = true;
    options.acrf_conf = acrf_conf;
    return options;
  }
  // Has taken over this many times.
  bool backup_is_in_control(int times = 1) {
    constexpr std::string_view kSays = "Running as primary controller";
    return wait_until([&] {
      const auto log = text_of(root_ + "/log/slurmctld-backup.log");
      int count = 0;
      for (auto at = log.find(kSays); at != std::string::npos; at = log.find(kSays, at + 1))
        ++count;
      return count >= times;
    });
  }
  void expect_restarted_once(const std::string& id, const std::string& broken) {
    ASSERT_TRUE(runs_again(id, 1, kAfterTakeover)) << job(id).state << " " << record(broken);
    ASSERT_TRUE(began(1)) << text_of(output());
    EXPECT_TRUE(began_from(1, 7)) << text_of(root_ + "/from-1");
    EXPECT_THAT(job(id).nodes, Not(Contains(broken)));
    EXPECT_TRUE(completes(id)) << job(id).state;
    EXPECT_EQ(job(id).restarts, 1);
    EXPECT_EQ(twice(), "");
  }
  bool first_is_in_control() {
    return wait_until([&] {
      return cluster().run({"scontrol", "ping"}).output.find("Slurmctld(primary) at ctl1 is UP") !=
             std::string::npos;
    });
  }
};

TEST_F(Takeover, AFaultWhileNobodyIsInControlIsDealtWithByTheBackup) {
  start(pair());
  const auto id = train();
  ASSERT_TRUE(job_state_is_saved());
  const auto broken = job(id).nodes.back();
  ASSERT_TRUE(cluster().kill("slurmctld").ok());
  inject(broken);
  ASSERT_TRUE(healthd_says(broken, "gpu_lost"));
  ASSERT_TRUE(backup_is_in_control());
  ASSERT_TRUE(runs_again(id, 1, kAfterTakeover));
  EXPECT_THAT(job(id).nodes, Not(Contains(broken)));
  EXPECT_THAT(node(broken).reason, StartsWith("ACRF: gpu_lost 0000:10:00 reboot_node ["));
  // The first one comes back and takes over again, with all that the backup has done.
  ASSERT_TRUE(cluster().start_slurmctld().ok());
  ASSERT_TRUE(first_is_in_control());
  ASSERT_TRUE(healthd_says(broken, "closed: node drained"));
  EXPECT_TRUE(node(broken).drained);
  EXPECT_EQ(job(id).restarts, 1);
  EXPECT_EQ(job(id).state, "RUNNING");
}

TEST_F(Takeover, InTheMiddleOfADrainAndBetweenDrainAndRequeue) {
  start(pair());
  const auto id = train();
  ASSERT_TRUE(job_state_is_saved());
  const auto before = job(id).nodes.front(), after = job(id).nodes.back();
  hold("drain", before);
  hold("slurm_requeue", after);
  inject(before);
  inject(after);
  ASSERT_TRUE(is_held("drain", before));
  ASSERT_TRUE(is_held("slurm_requeue", after));
  ASSERT_TRUE(node(after).drained);  // and perhaps not on disk yet
  ASSERT_TRUE(cluster().kill("slurmctld").ok());
  let_go("drain", before);
  let_go("slurm_requeue", after);
  ASSERT_TRUE(backup_is_in_control());
  ASSERT_TRUE(runs_again(id, 1, kAfterTakeover));
  for (const auto& broken : {before, after}) {
    EXPECT_THAT(job(id).nodes, Not(Contains(broken)));
    ASSERT_TRUE(healthd_says(broken, "closed: node drained"));
    EXPECT_THAT(node(broken).reason, StartsWith("ACRF: gpu_lost "));
  }
  EXPECT_EQ(job(id).restarts, 1);
}

TEST_F(Takeover, InTheMiddleOfARepair) {
  const auto reset =
      program("reset", "echo run >> " + programs() + "/runs\nwhile [ ! -e " + programs() +
                           "/go ]; do sleep 0.05; done\n" + cure("\"$1\""));
  start(pair("GpuQuarantine=on\nProbationTime=3\nResetProgram=" + reset +
             "\nTestProgram=/bin/true\n"));
  inject_fault("n1", {"--fault", "reset-required"});
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(programs() + "/runs"); }));
  ASSERT_TRUE(cluster().kill("slurmctld").ok());
  ASSERT_TRUE(backup_is_in_control());
  // What the controllers' common state lacked is told to the backup again.
  ASSERT_TRUE(wait_until([&] { return record("n1").find("acrf:gpus=0") != std::string::npos; }));
  ASSERT_TRUE(write_file(programs() + "/go", "").ok());
  ASSERT_TRUE(healthd_says("n1", "probation -> healthy"));
  EXPECT_THAT(record("n1"), AllOf(Not(HasSubstr("gpus=")), Not(HasSubstr("probation"))));
  EXPECT_EQ(text_of(programs() + "/runs"), "run\n");
}

// The backup has not heard of the drain, and gets a comment that was read with it.
TEST_F(Takeover, AJobStillLeavesANodeWhoseSlurmdHangs) {
  auto options = pair();
  options.slurm_conf += "MessageTimeout=2\n";
  start(options);
  const auto id = submit_with_checkpoints();
  ASSERT_TRUE(began(0)) << text_of(output());
  ASSERT_TRUE(job_state_is_saved());
  const auto broken = job(id).nodes.back();
  hold("not_responding", broken);
  ASSERT_TRUE(cluster().signal("slurmd-" + broken, SIGSTOP).ok());
  inject(broken);
  ASSERT_TRUE(is_held("not_responding", broken)) << record(broken);
  ASSERT_TRUE(cluster().kill("slurmctld").ok());
  let_go("not_responding", broken);
  ASSERT_TRUE(backup_is_in_control());
  expect_restarted_once(id, broken);
  EXPECT_TRUE(node(broken).drained);
  EXPECT_THAT(node(broken).reason, StartsWith("ACRF: gpu_lost ")) << "not taken for an admin's";
  ASSERT_TRUE(cluster().signal("slurmd-" + broken, SIGCONT).ok());
}

TEST_F(Takeover, AJobStillLeavesANodeThatIsLost) {
  start(pair("PeerSilence=1\n"));
  for (const auto& name : cluster().nodes()) ASSERT_TRUE(healthd_says(name, "hears all "));
  const auto id = submit_with_checkpoints();
  ASSERT_TRUE(began(0)) << text_of(output());
  ASSERT_TRUE(job_state_is_saved());
  const auto lost = job(id).nodes.back();
  hold("down");
  ASSERT_TRUE(signal_node(root_, lost, SIGKILL).ok());
  ASSERT_TRUE(node_says(lost, "DRAIN")) << record(lost);
  ASSERT_TRUE(cluster().kill("slurmctld").ok());
  let_go("down");
  ASSERT_TRUE(backup_is_in_control());
  expect_restarted_once(id, lost);
  EXPECT_THAT(record(lost), AllOf(HasSubstr("DRAIN"), HasSubstr("ACRF: node_lost node drain [")));
}

// Inside its allocation, or by a requeue when its launcher could not be told in time.
TEST_F(Takeover, AJobOfTheLauncherThatLosesANodeMeanwhileGoesOnWithoutIt) {
  start(pair());
  const auto id = submit_launched({"-N3", "--acrf-spares=1"});
  ASSERT_TRUE(wait_until([&] { return lines_in("began") == 2; })) << text_of(output());
  ASSERT_TRUE(job_state_is_saved());
  const auto broken = node_of_last_rank();
  inject(broken);
  ASSERT_TRUE(wait_until([&] { return node(broken).drained; }, seconds(30), milliseconds(5)));
  ASSERT_TRUE(cluster().kill("slurmctld").ok());
  ASSERT_TRUE(backup_is_in_control());
  ASSERT_TRUE(wait_until([&] { return lines_in("began") >= 4; }, seconds(60))) << text_of(output());
  EXPECT_TRUE(completes(id)) << job(id).state << text_of(output());
  EXPECT_LE(job(id).restarts, 1);
  const auto text = text_of(root_ + "/began");
  EXPECT_THAT(text.substr(text.rfind('\n', text.rfind('\n', text.size() - 2) - 1)),
              Not(HasSubstr(" " + broken + " ")));
  EXPECT_EQ(twice(), "");
}

}  // namespace
}  // namespace acrf::minicluster
