// SPDX-License-Identifier: GPL-2.0-or-later
// An admin's scontrol in between: it always wins. What an admin drained is not touched, what an
// admin resumed is not drained again for the same fault.
#include <gmock/gmock.h>

#include <filesystem>

#include "common/file.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::HasSubstr;
using testing::Not;

class AdminsWord : public LiveCluster {
 protected:
  void update(const std::string& node, const std::vector<std::string>& words) {
    std::vector<std::string> command = {"scontrol", "update", "NodeName=" + node};
    command.insert(command.end(), words.begin(), words.end());
    const auto done = cluster().run(command);
    ASSERT_TRUE(done.ok()) << done.errors;
  }
  void drain(const std::string& node) { update(node, {"State=DRAIN", "Reason=bad fan"}); }
};

TEST_F(AdminsWord, EndsTheCaseAtAnyStep) {
  const auto wait = "while [ ! -e " + programs() + "/go ]; do sleep 0.05; done\n";
  const auto reset = program("reset", cure("\"$1\"") + "echo >> " + programs() + "/reset-$1\n" +
                                          "[ $1 = n4 ] && exit\n" + wait);
  auto options = holding();
  options.acrf_conf =
      "ProbationTime=15\nMaxDrainsPerHour=100%\nMaxDrained=100%\nMinHealthy=0%\nCommonCauseNodes="
      "0\n"
      "ResetProgram=" +
      reset + "\nTestProgram=/bin/true\n";
  start(options);
  hold("claim", "n1");
  for (const auto& name : cluster().nodes()) inject_fault(name, {"--fault", "reset-required"});

  ASSERT_TRUE(is_held("claim", "n1"));  // it has seen a node in service
  drain("n1");
  let_go("claim", "n1");
  for (const std::string name : {"n2", "n3"})
    ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(programs() + "/reset-" + name); }));
  drain("n2");
  update("n3", {"State=RESUME"});
  ASSERT_TRUE(healthd_says("n4", "is back in service, on probation"));
  drain("n4");

  for (const auto& name : cluster().nodes())
    EXPECT_TRUE(healthd_says(name, "-> taken_over")) << name;
  ASSERT_TRUE(write_file(programs() + "/go", "").ok());
  for (const std::string name : {"n1", "n2", "n4"}) EXPECT_EQ(node(name).reason, "bad fan") << name;
  EXPECT_FALSE(node("n3").drained);
  for (const std::string name : {"n1", "n2", "n3"})
    EXPECT_THAT(text_of(root_ + "/log/healthd-" + name + ".log"),
                Not(HasSubstr("is back in service")));
}

// A controller that has just begun may have forgotten a drain, which then is made again. This one
// has not: its record of the node has the mark that came with the drain.
TEST_F(AdminsWord, IsNotTakenForAControllersForgetting) {
  start(small());
  inject("n1");
  ASSERT_TRUE(healthd_says("n1", "closed: node drained"));
  ASSERT_TRUE(cluster().restart_slurmctld().ok());
  // 22.05 refuses it for a node that has not registered yet, and yet ends its drain.
  ASSERT_TRUE(wait_until([&] {
    cluster().run({"scontrol", "update", "NodeName=n1", "State=RESUME"});
    return !node("n1").drained;
  }));
  EXPECT_TRUE(healthd_says("n1", "-> taken_over"));
  EXPECT_FALSE(node("n1").drained);
}

// The mark does not vouch for a drain when a later change of the comment has brought it along: read
// from a controller that knew the drain, written to one that does not.
TEST_F(AdminsWord, IsNotSeenInAMarkThatWasCarriedOver) {
  auto options = holding();
  options.acrf_conf = "HeatTime=1\nPowerCap=80\nPowerCapProgram=/bin/true\nTestProgram=none\n";
  start(options);
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  inject("n1");
  ASSERT_TRUE(healthd_says("n1", "closed: node drained"));
  hold("note", "n1");
  inject_fault("n1", {"--gpu", "3", "--fault", "hot"});
  ASSERT_TRUE(is_held("note", "n1"));  // with the comment of a drained node
  ASSERT_TRUE(cluster().kill("slurmctld").ok());
  for (const char* file : {"node_state", "node_state.old"})
    std::filesystem::remove(cluster().path("state/") + file);
  ASSERT_TRUE(cluster().start_slurmctld().ok());
  ASSERT_FALSE(node("n1").drained);
  let_go("note", "n1");
  EXPECT_TRUE(wait_until([&] { return node("n1").drained; })) << record("n1");
}

}  // namespace
}  // namespace acrf::minicluster
