// SPDX-License-Identifier: GPL-2.0-or-later
// A sick part's way back into service, or to the people, on a real cluster.
#include <gmock/gmock.h>

#include <filesystem>

#include "build_paths.h"
#include "common/file.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RepairLive : public LiveCluster {
 protected:
  // Programs that leave a trace and cure what they are told to.
  ClusterOptions with(const std::string& acrf_conf) {
    auto options = small();
    options.acrf_conf = acrf_conf;
    return options;
  }

  std::string program(const std::string& name, const std::string& script) {
    std::filesystem::create_directories(root_ + "-programs");
    const auto path = root_ + "-programs/" + name;
    EXPECT_TRUE(write_file(path, "#!/bin/sh\n" + script, 0755).ok());
    return path;
  }

  void TearDown() override {
    LiveCluster::TearDown();
    std::error_code error;
    std::filesystem::remove_all(root_ + "-programs", error);
  }

  std::string record(const std::string& name) {
    return cluster().run({"scontrol", "show", "node", name}).output;
  }
  void inject_fault(const std::string& node, const std::vector<std::string>& fault) {
    std::vector<std::string> command = {"acrf", "inject", "--node", node};
    command.insert(command.end(), fault.begin(), fault.end());
    const auto done = cluster().run(command);
    ASSERT_TRUE(done.ok()) << done.errors;
  }
  bool shows(const std::string& node, const std::string& text) {
    return wait_until([&] { return record(node).find(text) != std::string::npos; });
  }
  std::string cure(const std::string& node) {
    return "env SLURM_CONF=" + root_ + "/etc/slurm.conf " + ACRF_STAGE +
           "/usr/bin/acrf inject --node " + node + " --repair\n";
  }
};

TEST_F(RepairLive, OneSickGpuIsHiddenResetTestedAndGivenBackWhileItsNodeServesOn) {
  const auto reset =
      program("reset", "echo \"$@\" > " + root_ + "-programs/arguments\n" + cure("\"$1\""));
  const auto test = program("test", "echo all passed\n");
  start(with("GpuQuarantine=on\nProbationTime=3\nResetProgram=" + reset + "\nTestProgram=" + test +
             "\n"));
  inject_fault("n1", {"--fault", "reset-required"});
  ASSERT_TRUE(healthd_says("n1", "hiding GPU 0 of node n1 from jobs"));
  ASSERT_TRUE(healthd_says("n1", "quarantined -> drained"));
  ASSERT_TRUE(healthd_says("n1", "testing -> probation"));
  EXPECT_THAT(text_of(root_ + "-programs/arguments"),
              AllOf(HasSubstr("n1 GPU-"), HasSubstr("0000:10:00")));
  ASSERT_TRUE(healthd_says("n1", "probation -> healthy"));
  EXPECT_THAT(record("n1"),
              AllOf(Not(HasSubstr("gpus=")), Not(HasSubstr("probation")), Not(HasSubstr("DRAIN"))));
  const auto audit =
      cluster().run({"acrf", "audit", "--json", "--state-dir", root_ + "/nodes/n1/acrf"});
  EXPECT_THAT(audit.output, AllOf(HasSubstr("quarantine"), HasSubstr("all passed")))
      << audit.errors;
}

TEST_F(RepairLive, AJobOnTheOtherGpusGoesOn) {
  start(with("GpuQuarantine=on\nTestProgram=none\nResetProgram=none\n"));
  const auto script = program("sleeper", "sleep 1000\n");
  const auto other = cluster().run({"sbatch", "--parsable", "-w", "n1", "--gpus-per-node=1",
                                    "--output=/dev/null", "--acrf-policy=requeue", script});
  ASSERT_TRUE(other.ok()) << other.errors;
  const auto id = other.output.substr(0, other.output.find('\n'));
  ASSERT_TRUE(wait_until([&] { return job(id).state == "RUNNING"; }));
  inject_fault("n1", {"--gpu", "7", "--fault", "reset-required"});
  ASSERT_TRUE(shows("n1", "acrf:gpus=7"));
  ASSERT_TRUE(healthd_says("n1", "closed: GPU in quarantine"));
  EXPECT_EQ(job(id).state, "RUNNING");
  EXPECT_EQ(job(id).restarts, 0);
  EXPECT_THAT(record("n1"), Not(HasSubstr("DRAIN")));
}

TEST_F(RepairLive, AResetThatDoesNotCureEndsWithPeople) {
  const auto reset = program("reset", "exit 0\n");
  start(with("ResetProgram=" + reset + "\nTestProgram=/bin/true\n"));
  inject_fault("n2", {"--fault", "reset-required"});
  ASSERT_TRUE(shows("n2", "DRAIN"));
  ASSERT_TRUE(healthd_says("n2", "resetting -> testing"));
  ASSERT_TRUE(healthd_says("n2", "testing -> drained: the fault is still there"));
  ASSERT_TRUE(healthd_says("n2", "drained -> attended: only a reboot is left to try"));
  EXPECT_THAT(record("n2"), HasSubstr("DRAIN"));
}

TEST_F(RepairLive, ANodeComesBackAfterARebootAndAPassedTest) {
  const auto reboot = program("reboot", "touch " + root_ + "-programs/rebooting\n");
  start(with("ProbationTime=86400\nRebootProgram=" + reboot + "\nTestProgram=/bin/true\n"));
  inject_fault("n1", {"--xid", "79"});
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(root_ + "-programs/rebooting"); }));
  ASSERT_TRUE(cluster().kill("healthd-n1").ok());
  inject_fault("n1", {"--repair"});
  std::filesystem::create_directories(root_ + "/nodes/n1/root/proc/sys/kernel/random");
  ASSERT_TRUE(write_file(root_ + "/nodes/n1/root/proc/sys/kernel/random/boot_id", "next\n").ok());
  ASSERT_TRUE(cluster().start_healthd("n1").ok());
  ASSERT_TRUE(healthd_says("n1", "rebooting -> testing"));
  ASSERT_TRUE(healthd_says("n1", "is back in service, on probation"));
  EXPECT_TRUE(wait_until([&] { return !node("n1").drained; }));
  EXPECT_THAT(record("n1"), HasSubstr("probation"));
}

TEST_F(RepairLive, NothingReturnsWithoutATestAndAnAdminsResumeEndsTheCase) {
  const auto reset = program("reset", cure("\"$1\""));
  start(with("ResetProgram=" + reset + "\nTestProgram=none\n"));
  inject_fault("n3", {"--fault", "reset-required"});
  ASSERT_TRUE(healthd_says("n3", "testing -> attended: there is no test"));
  EXPECT_TRUE(node("n3").drained);
  ASSERT_TRUE(cluster().run({"scontrol", "update", "NodeName=n3", "State=RESUME"}).ok());
  EXPECT_TRUE(healthd_says("n3", "attended -> taken_over"));
  EXPECT_FALSE(node("n3").drained);
}

TEST_F(RepairLive, ADaemonKilledDuringAResetGoesOnAndResetsOnce) {
  const auto reset =
      program("reset", cure("\"$1\"") + "echo run >> " + root_ + "-programs/runs\nsleep 1000\n");
  start(with("ResetProgram=" + reset + "\nTestProgram=/bin/true\n"));
  inject_fault("n1", {"--fault", "reset-required"});
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(root_ + "-programs/runs"); }));
  ASSERT_TRUE(cluster().kill("healthd-n1").ok());
  ASSERT_TRUE(cluster().start_healthd("n1").ok());
  ASSERT_TRUE(healthd_says("n1", "resetting -> testing: a reset was begun"));
  ASSERT_TRUE(healthd_says("n1", "is back in service, on probation"));
  EXPECT_EQ(text_of(root_ + "-programs/runs"), "run\n");
}

TEST_F(RepairLive, AllNodesFaultingInOneSecondAreNotAllDrained) {
  auto options = with("MaxDrainsPerHour=2\nCommonCauseNodes=0\nMinHealthy=0%\nMaxDrained=100%\n");
  options.nodes = 8;
  start(options);
  for (const auto& name : cluster().nodes()) inject_fault(name, {"--xid", "79"});
  const auto held = [&] {
    int count = 0;
    for (const auto& name : cluster().nodes())
      count += text_of(root_ + "/log/healthd-" + name + ".log").find("is left in service") !=
               std::string::npos;
    return count;
  };
  ASSERT_TRUE(wait_until([&] { return held() == 6; })) << held();
  int drained = 0;
  for (const auto& name : cluster().nodes()) drained += node(name).drained;
  EXPECT_EQ(drained, 2);
}

TEST_F(RepairLive, AFullDiskStopsNoDrain) {
  start(small());
  const auto state = root_ + "/nodes/n1/acrf";
  ASSERT_TRUE(cluster().kill("healthd-n1").ok());
  if (!cluster().run({"mount", "-t", "tmpfs", "-o", "size=64k", "none", state}).ok())
    GTEST_SKIP() << "no file system can be mounted here";
  cluster().run({"dd", "if=/dev/zero", "of=" + state + "/filler", "bs=1k", "count=64"});
  ASSERT_TRUE(cluster().start_healthd("n1").ok());
  inject("n1");
  EXPECT_TRUE(wait_until([&] { return node("n1").drained; }));
  ASSERT_TRUE(cluster().kill("healthd-n1").ok());
  cluster().run({"umount", "-l", state});
}

}  // namespace
}  // namespace acrf::minicluster
