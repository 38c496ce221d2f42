// SPDX-License-Identifier: GPL-2.0-or-later
// Where a site lets ACRF only watch: a mode for the whole, a partition or a rule, a list of nodes
// under maintenance, and a job that wants none of it.
#include <gmock/gmock.h>

#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kNoBrakes[] =
    "MaxDrainsPerHour=100%\nMaxDrained=100%\nMinHealthy=0%\nCommonCauseNodes=0\nTestProgram=none\n";

class Modes : public LiveCluster {
 protected:
  ClusterOptions with(const std::string& acrf_conf) {
    auto options = small();
    options.acrf_conf = kNoBrakes + acrf_conf;
    return options;
  }
  bool becomes_drained(const std::string& name) {
    // What maintenance held is asked about again every 30 s.
    return wait_until([&] { return node(name).drained; }, std::chrono::seconds(60));
  }
  std::string audit(const std::string& name) {
    return cluster()
        .run({"acrf", "audit", "--json", "--state-dir", root_ + "/nodes/" + name + "/acrf"})
        .output;
  }
  void break_all() {
    for (const auto& name : cluster().nodes()) ASSERT_TRUE(healthd_knows_its_gpus(name));
    for (const auto& name : cluster().nodes()) inject(name);
  }
};

TEST_F(Modes, APartitionIsWatchedWhileTheOthersAreActedOn) {
  auto options = with("Partition=careful Mode=observe\n");
  options.slurm_conf = "PartitionName=careful Nodes=n[1-2]\n";
  start(options);
  break_all();
  for (const std::string name : {"n3", "n4"}) EXPECT_TRUE(becomes_drained(name)) << name;
  // Also by a node's other partition, for which Mode=enforce holds.
  for (const std::string name : {"n1", "n2"}) {
    EXPECT_TRUE(healthd_says(name, "closed: observed")) << name;
    EXPECT_FALSE(node(name).drained) << name;
    EXPECT_EQ(record(name).find("acrf:"), std::string::npos) << "nothing is touched";
    EXPECT_THAT(audit(name), AllOf(HasSubstr("\"drain\""), HasSubstr("Mode=observe")));
  }
}

TEST_F(Modes, OnePartitionIsActedOnWhileTheClusterIsWatched) {
  auto options = with("Partition=brave Mode=enforce\nPartition=main Mode=enforce\n");
  options.enforce = false;
  options.slurm_conf = "PartitionName=brave Nodes=n1\nPartitionName=rest Nodes=n[2-4]\n";
  start(options);
  break_all();
  EXPECT_TRUE(becomes_drained("n1"));
  for (const std::string name : {"n2", "n3", "n4"}) {
    EXPECT_TRUE(healthd_says(name, "closed: observed")) << name;
    EXPECT_FALSE(node(name).drained) << name;
  }
}

TEST_F(Modes, ARuleInShadowSaysWhatItWouldDoAndOneThatIsOffSaysNothing) {
  start(with("Fault=class:gpu_lost Mode=shadow\nFault=class:gpu_reset_required Mode=off\n"));
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  inject("n1");
  ASSERT_TRUE(healthd_says("n1", "watching (Mode=shadow: would reboot_node)"));
  inject_fault("n2", {"--fault", "reset-required"});
  inject_fault("n3", {"--fault", "recovery-reset"});  // another rule, as it comes
  EXPECT_TRUE(becomes_drained("n3"));
  EXPECT_FALSE(node("n1").drained);
  EXPECT_FALSE(node("n2").drained);
  EXPECT_THAT(text_of(root_ + "/log/healthd-n2.log"), Not(HasSubstr("gpu_reset_required")));
}

TEST_F(Modes, MaintenanceLinesCoverTheirNodesChecksAndTimes) {
  start(
      with("Maintenance=n1 Reason=\"new cables\"\nMaintenance=n2 Checks=gsp\n"
           "Maintenance=n3 End=2020-01-01T00:00Z\nMaintenance=n4 Start=2099-01-01T00:00Z\n"));
  break_all();
  for (const std::string name : {"n2", "n3", "n4"}) EXPECT_TRUE(becomes_drained(name)) << name;
  ASSERT_TRUE(healthd_says("n1", "node n1 is left in service: the node is under maintenance"));
  EXPECT_FALSE(node("n1").drained);
  EXPECT_THAT(audit("n1"), AllOf(HasSubstr("\"hold\""), HasSubstr("under maintenance")));
}

TEST_F(Modes, MaintenanceByCommandHoldsUntilItIsEnded) {
  start(with(""));
  const auto added = cluster().run({"acrf", "maintenance", "add", "n1", "--duration", "30"});
  ASSERT_TRUE(added.ok()) << added.errors;
  ASSERT_TRUE(wait_until([&] { return record("n1").find("MAINT") != std::string::npos; }));
  inject("n1");
  ASSERT_TRUE(healthd_says("n1", "node n1 is left in service: the node is under maintenance"));
  EXPECT_FALSE(node("n1").drained);
  const auto removed =
      cluster().run({"acrf", "maintenance", "remove", std::string(trim(added.output))});
  ASSERT_TRUE(removed.ok()) << removed.errors;
  EXPECT_TRUE(becomes_drained("n1"));
}

TEST_F(Modes, AJobThatOptsOutIsLeftAloneBesideOneThatComesBack) {
  start(with(""));
  const auto submit_job = [&](const std::string& policy) {
    const auto submitted =
        cluster().run({"sbatch", "--parsable", "-w", "n1", "--gpus-per-node=4", "--ntasks=1",
                       "--mem=100", "--output=/dev/null", "--acrf-workload=training",
                       "--acrf-policy=" + policy, program(policy, "sleep 1000\n")});
    EXPECT_TRUE(submitted.ok()) << submitted.errors;
    return std::string(trim(submitted.output));
  };
  const auto stays = submit_job("none"), returns = submit_job("requeue");
  ASSERT_TRUE(
      wait_until([&] { return job(stays).state == "RUNNING" && job(returns).state == "RUNNING"; }));
  inject("n1");
  ASSERT_TRUE(wait_until([&] { return job(returns).restarts == 1; }));
  ASSERT_TRUE(healthd_says("n1", "closed: node drained"));
  EXPECT_EQ(job(stays).state, "RUNNING");
  EXPECT_EQ(job(stays).restarts, 0);
}

}  // namespace
}  // namespace acrf::minicluster
