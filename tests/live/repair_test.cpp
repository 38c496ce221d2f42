// SPDX-License-Identifier: GPL-2.0-or-later
// A sick part's way back into service, or to the people, on a real cluster.
#include <gmock/gmock.h>

#include <filesystem>

#include "common/file.h"
#include "core/text.h"
#include "fakegpu/state.h"
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

  // People put another GPU in the first one's place, for which the node is off.
  void swap_gpu(const std::string& node, int boot) {
    const auto file = root_ + "/nodes/" + node + "/gpus.json";
    auto state = fakegpu::load_state(file);
    ASSERT_TRUE(state.ok());
    fakegpu::replace(state->gpus[0]);
    ASSERT_TRUE(fakegpu::save_state(file, *state).ok());
    reboot_node(node, boot);
  }
  std::string uuid_of_first(const std::string& node) {
    const auto state = fakegpu::load_state(root_ + "/nodes/" + node + "/gpus.json");
    return state ? state->gpus[0].uuid : "";
  }
  bool shows(const std::string& node, const std::string& text) {
    return wait_until([&] { return record(node).find(text) != std::string::npos; });
  }
};

TEST_F(RepairLive, OneSickGpuIsHiddenResetTestedAndGivenBackWhileItsNodeServesOn) {
  const auto reset =
      program("reset", "echo \"$@\" > " + programs() + "/arguments\n" + cure("\"$1\""));
  const auto test = program("test", "echo all passed\n");
  start(with("GpuQuarantine=on\nProbationTime=3\nResetProgram=" + reset + "\nTestProgram=" + test +
             "\n"));
  inject_fault("n1", {"--fault", "reset-required"});
  ASSERT_TRUE(healthd_says("n1", "hiding GPU 0 of node n1 from jobs"));
  ASSERT_TRUE(healthd_says("n1", "quarantined -> drained"));
  ASSERT_TRUE(healthd_says("n1", "testing -> probation"));
  EXPECT_THAT(text_of(programs() + "/arguments"),
              AllOf(HasSubstr("n1 GPU-"), HasSubstr("0000:10:00")));
  ASSERT_TRUE(healthd_says("n1", "probation -> healthy"));
  EXPECT_THAT(record("n1"),
              AllOf(Not(HasSubstr("gpus=")), Not(HasSubstr("probation")), Not(HasSubstr("DRAIN"))));
  const auto audit =
      cluster().run({"acrf", "audit", "--json", "--state-dir", root_ + "/nodes/n1/acrf"});
  EXPECT_THAT(audit.output, AllOf(HasSubstr("quarantine"), HasSubstr("all passed")))
      << audit.errors;
}

TEST_F(RepairLive, AFaultFromBeforeTheDaemonsStartCostsOneGpuAndNotItsNode) {
  start(with("GpuQuarantine=on\nTestProgram=none\nResetProgram=none\n"));
  ASSERT_TRUE(cluster().kill("healthd-n1").ok());
  inject_fault("n1", {"--gpu", "3", "--xid", "95"});
  ASSERT_TRUE(cluster().start_healthd("n1").ok());
  EXPECT_TRUE(shows("n1", "acrf:gpus=3"));
  EXPECT_TRUE(healthd_says("n1", "on GPU 0000:40:00 (GPU-"));  // known by its UUID
  EXPECT_THAT(record("n1"), Not(HasSubstr("DRAIN")));
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
  const auto reboot = program("reboot", "touch " + programs() + "/rebooting\n");
  start(with("ProbationTime=86400\nRebootProgram=" + reboot + "\nTestProgram=/bin/true\n"));
  inject_fault("n1", {"--xid", "79"});
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(programs() + "/rebooting"); }));
  inject_fault("n1", {"--repair"});
  reboot_node("n1", 1);
  ASSERT_TRUE(healthd_says("n1", "rebooting -> testing"));
  ASSERT_TRUE(healthd_says("n1", "is back in service, on probation"));
  EXPECT_TRUE(wait_until([&] { return !node("n1").drained; }));
  EXPECT_THAT(record("n1"), HasSubstr("probation"));
}

// The first fault took the node, the second, on probation, takes the GPU alone: that one, and not
// the first of the node.
TEST_F(RepairLive, AGpuThatCostItsNodeIsHiddenAloneWhenItFailsAgain) {
  const auto reboot = program("reboot", "touch " + programs() + "/rebooting\n");
  start(with("GpuQuarantine=on\nProbationTime=86400\nRebootProgram=" + reboot +
             "\nResetProgram=none\nTestProgram=/bin/true\n"));
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  inject_fault("n1", {"--gpu", "3", "--xid", "79"});
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(programs() + "/rebooting"); }));
  inject_fault("n1", {"--gpu", "3", "--repair"});
  reboot_node("n1", 1);
  ASSERT_TRUE(healthd_says("n1", "is back in service, on probation"));
  ASSERT_TRUE(wait_until([&] { return !node("n1").drained; }));
  inject_fault("n1", {"--gpu", "3", "--fault", "remap-failure"});
  ASSERT_TRUE(shows("n1", "acrf:gpus=3"));
  ASSERT_TRUE(healthd_says("n1", "drained -> rma"));
  EXPECT_FALSE(node("n1").drained);
  EXPECT_THAT(record("n1"), HasSubstr("acrf:gpus=3"));
}

// By a fault of its own, and by one that is known as the root of the first.
class HiddenGpu : public RepairLive, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(RepairLive, HiddenGpu,
                         testing::Values("--fault=reset-required", "--xid=95"),
                         [](const auto& test) { return test.index == 0 ? "Other" : "Same"; });

TEST_P(HiddenGpu, ComesBackWithItsNodeThatIsDrainedForItLater) {
  const auto reset = program("reset", "touch " + programs() + "/resetting\nwhile [ ! -e " +
                                          programs() + "/go ]; do sleep 0.05; done\n");
  const auto reboot = program("reboot", "touch " + programs() + "/rebooting\n");
  start(with("GpuQuarantine=on\nProbationTime=3\nResetProgram=" + reset +
             "\nRebootProgram=" + reboot + "\nTestProgram=/bin/true\n"));
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  inject_fault("n1", {"--gpu", "3", GetParam()});
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(programs() + "/resetting"); }));
  ASSERT_TRUE(healthd_says("n1", "closed: GPU in quarantine"));
  EXPECT_FALSE(node("n1").drained);
  inject_fault("n1", {"--gpu", "3", "--xid", "79"});
  ASSERT_TRUE(shows("n1", "DRAIN"));
  ASSERT_TRUE(write_file(programs() + "/go", "").ok());
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(programs() + "/rebooting"); }));
  inject_fault("n1", {"--gpu", "3", "--repair"});
  reboot_node("n1", 1);
  ASSERT_TRUE(healthd_says("n1", "is back in service, on probation"));
  EXPECT_TRUE(wait_until([&] { return !node("n1").drained; }));
  EXPECT_TRUE(wait_until([&] { return record("n1").find("gpus=") == std::string::npos; }));
}

TEST_F(RepairLive, NobodyTreatsANodeOnWhichPeopleWork) {
  const auto reset = program("reset", "touch " + programs() + "/was-reset\n" + cure("\"$1\""));
  start(with("ResetProgram=" + reset + "\nTestProgram=/bin/true\n"));
  const auto script =
      program("job", "while [ ! -e " + programs() + "/end ]; do sleep 0.05; done\n");
  const auto submitted = cluster().run({"sbatch", "--parsable", "-w", "n1", "--gpus-per-node=8",
                                        "--output=/dev/null", "--acrf-policy=none", script});
  ASSERT_TRUE(submitted.ok()) << submitted.errors;
  const std::string id(trim(submitted.output));
  ASSERT_TRUE(wait_until([&] { return job(id).state == "RUNNING"; }));
  inject_fault("n1", {"--fault", "reset-required"});
  ASSERT_TRUE(shows("n1", "DRAIN"));
  const auto added = cluster().run({"acrf", "maintenance", "add", "n1", "--duration", "30"});
  ASSERT_TRUE(added.ok()) << added.errors;
  ASSERT_TRUE(shows("n1", "MAINT"));
  ASSERT_TRUE(write_file(programs() + "/end", "").ok());  // the node is empty now
  ASSERT_TRUE(healthd_says("n1", "stays draining: the node is under maintenance"));
  EXPECT_FALSE(std::filesystem::exists(programs() + "/was-reset"));
  const auto removed =
      cluster().run({"acrf", "maintenance", "remove", std::string(trim(added.output))});
  ASSERT_TRUE(removed.ok()) << removed.errors;
  EXPECT_TRUE(wait_until([&] { return std::filesystem::exists(programs() + "/was-reset"); }));
  EXPECT_TRUE(healthd_says("n1", "is back in service, on probation"));
}

// Where only the GPU is hidden, the mark in the node's comment is the verdict that jobs meet.
TEST_F(RepairLive, ANewGpuInPlaceOfACondemnedOneServesAfterATestAndNotBefore) {
  const auto test = program("test", "touch " + programs() + "/testing\nwhile [ ! -e " + programs() +
                                        "/go ]; do sleep 0.05; done\n");
  const auto reset = program("reset", cure("\"$1\""));
  start(with("GpuQuarantine=on\nProbationTime=3\nResetProgram=" + reset + "\nTestProgram=" + test +
             "\n"));
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  const auto old = uuid_of_first("n1");
  inject_fault("n1", {"--fault", "remap-failure"});
  ASSERT_TRUE(shows("n1", "acrf:gpus=0"));
  ASSERT_TRUE(healthd_says("n1", "drained -> rma: nothing short of a replacement"));
  swap_gpu("n1", 1);
  const auto fresh = uuid_of_first("n1");
  ASSERT_NE(fresh, old);
  ASSERT_TRUE(healthd_says("n1", "rma -> testing: the part was replaced"));
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(programs() + "/testing"); }));
  EXPECT_THAT(record("n1"), HasSubstr("acrf:gpus=0")) << "nobody has tested it";
  ASSERT_TRUE(write_file(programs() + "/go", "").ok());
  ASSERT_TRUE(healthd_says("n1", "(" + fresh + ") is back in service, on probation"));
  EXPECT_THAT(record("n1"), AllOf(Not(HasSubstr("gpus=")), Not(HasSubstr("DRAIN"))));
  // What was tried on the old one is not held against it.
  inject_fault("n1", {"--fault", "reset-required"});
  EXPECT_TRUE(healthd_says("n1", "(" + fresh + "): drained -> resetting: a reset may cure it"));
}

TEST_F(RepairLive, ANewGpuThatFailsItsTestDoesNotServe) {
  const auto test = program("test", "touch " + programs() + "/tested\nexit 1\n");
  start(with("ResetProgram=none\nTestProgram=" + test + "\n"));
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  inject_fault("n1", {"--fault", "remap-failure"});
  ASSERT_TRUE(healthd_says("n1", "drained -> rma: nothing short of a replacement"));
  swap_gpu("n1", 1);
  ASSERT_TRUE(healthd_says("n1", "testing -> drained: the test failed"));
  EXPECT_TRUE(std::filesystem::exists(programs() + "/tested"));
  EXPECT_THAT(text_of(root_ + "/log/healthd-n1.log"), Not(HasSubstr("back in service")));
  EXPECT_TRUE(node("n1").drained);
}

TEST_F(RepairLive, ACondemnedGpuThatIsSilentAboutItsFaultStaysOut) {
  const auto test = program("test", "touch " + programs() + "/tested\n");
  start(with("ProbationTime=3\nTestProgram=" + test + "\n"));
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  inject_fault("n1", {"--fault", "remap-failure"});
  ASSERT_TRUE(healthd_says("n1", "drained -> rma: nothing short of a replacement"));
  inject_fault("n1", {"--repair"});
  reboot_node("n1", 1);
  ASSERT_TRUE(wait_until([&] {
    return cluster().healthd_life("n1").find("is rma; taken up again") != std::string::npos;
  }));
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  EXPECT_TRUE(node("n1").drained);
  EXPECT_FALSE(std::filesystem::exists(programs() + "/tested"));
  // A swap is what ends it.
  swap_gpu("n1", 2);
  EXPECT_TRUE(healthd_says("n1", "is back in service, on probation"));
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

TEST_F(RepairLive, ADrainAtJobEndLetsTheJobFinishAndRepairsAfterIt) {
  const auto reset = program("reset", cure("\"$1\""));
  start(with("ResetProgram=" + reset + "\nTestProgram=/bin/true\n"));
  const auto script =
      program("job", "while [ ! -e " + programs() + "/end ]; do sleep 0.05; done\n");
  const auto submitted = cluster().run({"sbatch", "--parsable", "-w", "n1", "--gpus-per-node=8",
                                        "--output=/dev/null", "--acrf-policy=requeue", script});
  ASSERT_TRUE(submitted.ok()) << submitted.errors;
  const std::string id(trim(submitted.output));
  ASSERT_TRUE(wait_until([&] { return job(id).state == "RUNNING"; }));
  inject_fault("n1", {"--fault", "remap-pending"});
  ASSERT_TRUE(shows("n1", "DRAIN"));
  ASSERT_TRUE(healthd_says("n1", "closed: node drained"));  // its jobs have been looked at
  EXPECT_EQ(job(id).state, "RUNNING");
  EXPECT_THAT(text_of(root_ + "/log/healthd-n1.log"), Not(HasSubstr("draining -> drained")));
  ASSERT_TRUE(write_file(programs() + "/end", "").ok());
  EXPECT_TRUE(wait_until([&] { return job(id).state == "COMPLETED"; }));
  EXPECT_TRUE(healthd_says("n1", "is back in service, on probation"));
  EXPECT_EQ(job(id).restarts, 0);
}

TEST_F(RepairLive, AFaultThatComesAndGoesIsNotCuredForEver) {
  const auto reset = program("reset", cure("\"$1\"") + "echo run >> " + programs() + "/runs\n");
  start(with("ResetProgram=" + reset + "\nTestProgram=/bin/true\n"));
  inject_fault("n1", {"--fault", "reset-required"});
  inject_fault("n1", {"--repair"});  // gone again before anybody has done anything, perhaps
  inject_fault("n1", {"--fault", "reset-required"});
  ASSERT_TRUE(healthd_says("n1", "is back in service, on probation"));
  // Until the daemon sees it as a new one.
  ASSERT_TRUE(wait_until([&] {
    inject_fault("n1", {"--fault", "reset-required"});
    return node("n1").drained;
  }));
  ASSERT_TRUE(healthd_says("n1", "drained -> attended: only a reboot is left to try"));
  EXPECT_TRUE(node("n1").drained);
  EXPECT_EQ(text_of(programs() + "/runs"), "run\n");
}

TEST_F(RepairLive, ARebootLoopEndsWithPeople) {
  const auto reboot = program("reboot", "echo run >> " + programs() + "/reboots\n");
  const auto test = program("test", "touch " + programs() + "/testing\nsleep 1000\n");
  start(with("MaxRemedies=1\nRebootProgram=" + reboot + "\nTestProgram=" + test + "\n"));
  inject_fault("n1", {"--xid", "79"});
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(programs() + "/reboots"); }));
  // The GPU is there after the boot, and falls off again.
  inject_fault("n1", {"--repair"});
  reboot_node("n1", 1);
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(programs() + "/testing"); }));
  inject_fault("n1", {"--xid", "79"});
  ASSERT_TRUE(healthd_says("n1", "testing -> drained: the fault is still there"));
  ASSERT_TRUE(healthd_says("n1", "drained -> rma: nothing short of a replacement"));
  reboot_node("n1", 2);
  // What was tried on one GPU counts for the node.
  inject_fault("n1", {"--gpu", "3", "--xid", "79"});
  EXPECT_TRUE(healthd_says("n1", "drained -> attended: 1 remedies on this node in seven days"));
  EXPECT_EQ(text_of(programs() + "/reboots"), "run\n");
  EXPECT_TRUE(node("n1").drained);
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
  // Where healthd sees it: the cluster has mounts of its own.
  const auto inside = [&](const std::vector<std::string>& command) {
    auto words = cluster().inside({"--mount"});
    words.insert(words.end(), command.begin(), command.end());
    return cluster().run(words);
  };
  ASSERT_TRUE(cluster().kill("healthd-n1").ok());
  if (!inside({"mount", "-t", "tmpfs", "-o", "size=64k", "none", state}).ok())
    GTEST_SKIP() << "no file system can be mounted here";
  ASSERT_FALSE(inside({"dd", "if=/dev/zero", "of=" + state + "/filler", "bs=1k", "count=65"}).ok());
  ASSERT_TRUE(cluster().start_healthd("n1").ok());
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  inject("n1");
  EXPECT_TRUE(wait_until([&] { return node("n1").drained; }));
  EXPECT_TRUE(healthd_says("n1", "No space left on device"));
  ASSERT_TRUE(cluster().kill("healthd-n1").ok());
}

}  // namespace
}  // namespace acrf::minicluster
