// SPDX-License-Identifier: GPL-2.0-or-later
// Two controllers: the first is killed while ACRF is at work, the backup takes over. What was done
// is there afterwards, what was not is done, and nothing twice.
#include <gmock/gmock.h>

#include <filesystem>

#include "common/file.h"
#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// What people are promised.
constexpr seconds kAfterTakeover{30};

class Takeover : public LiveCluster {
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

}  // namespace
}  // namespace acrf::minicluster
