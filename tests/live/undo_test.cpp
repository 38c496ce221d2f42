// SPDX-License-Identifier: GPL-2.0-or-later
// acrf undo on a real cluster: what ACRF did is undone by one command, and what is not ACRF's any
// more is left alone.
#include <gmock/gmock.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <sstream>

#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class UndoLive : public LiveCluster {
 protected:
  std::string state_dir(const std::string& node) { return root_ + "/nodes/" + node + "/acrf"; }
  // The newest entry that has this word and is done.
  std::string entry(const std::string& node, const std::string& what) {
    std::string id;
    wait_until([&] {
      std::istringstream lines(
          cluster().run({"acrf", "audit", "--json", "--state-dir", state_dir(node)}).output);
      for (std::string line; std::getline(lines, line);) {
        const auto record = nlohmann::json::parse(line);
        if (record["what"] == what && record["result"] == "done")
          id = std::to_string(record["id"].get<int>());
      }
      return !id.empty();
    });
    return id;
  }
  CommandResult undo(const std::string& node, const std::string& id) {
    return cluster().run({"acrf", "undo", "--state-dir", state_dir(node), id});
  }
};

TEST_F(UndoLive, ADrainIsUndoneOnceAndTheCaseIsOver) {
  auto options = small();
  options.acrf_conf = "TestProgram=none\nRebootProgram=none\n";
  start(options);
  // A drain in the second of slurmctld's start may be one that an earlier slurmctld lost.
  const auto started = std::time(nullptr);
  ASSERT_TRUE(wait_until([&] { return std::time(nullptr) > started; }));
  inject("n1");
  ASSERT_TRUE(wait_until([&] { return node("n1").drained; }));
  const auto id = entry("n1", "drain");
  ASSERT_TRUE(healthd_says("n1", "closed: node drained"));
  const auto done = undo("n1", id);
  EXPECT_TRUE(done.ok()) << done.errors;
  EXPECT_FALSE(node("n1").drained);
  EXPECT_TRUE(healthd_says("n1", "-> taken_over"));
  const auto again = undo("n1", id);
  EXPECT_FALSE(again.ok());
  EXPECT_THAT(again.errors, HasSubstr("was undone already"));
  EXPECT_THAT(cluster().run({"acrf", "audit", "--state-dir", state_dir("n1")}).output,
              AllOf(HasSubstr("admin undo n1 by admin "), HasSubstr("undone by")));

  inject("n2");
  ASSERT_TRUE(wait_until([&] { return node("n2").drained; }));
  const auto other = entry("n2", "drain");
  ASSERT_TRUE(cluster().run({"scontrol", "update", "NodeName=n2", "Reason=mine now"}).ok());
  const auto refused = undo("n2", other);
  EXPECT_FALSE(refused.ok());
  EXPECT_THAT(refused.errors, HasSubstr("drained by somebody else: mine now"));
  EXPECT_TRUE(node("n2").drained);
  EXPECT_THAT(undo("n2", "999999").errors, HasSubstr("the audit log has no entry 999999"));
}

TEST_F(UndoLive, AHiddenGpuIsShownAgain) {
  auto options = small();
  options.acrf_conf = "GpuQuarantine=on\nTestProgram=none\nResetProgram=none\n";
  start(options);
  ASSERT_TRUE(cluster().run({"acrf", "inject", "--node", "n1", "--fault", "reset-required"}).ok());
  ASSERT_TRUE(healthd_says("n1", "hiding GPU 0 of node n1 from jobs"));
  const auto done = undo("n1", entry("n1", "quarantine"));
  EXPECT_TRUE(done.ok()) << done.errors;
  EXPECT_THAT(cluster().run({"scontrol", "show", "node", "n1"}).output,
              testing::Not(HasSubstr("gpus=0")));
}

}  // namespace
}  // namespace acrf::minicluster
