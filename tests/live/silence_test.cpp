// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes that say nothing any more, on a real cluster: what their neighbours and they themselves do
// about it.
#include <gmock/gmock.h>

#include <csignal>

#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class SilenceLive : public LiveCluster {
 protected:
  ClusterOptions watchful(const std::string& more = "") {
    auto options = small();
    options.acrf_conf = "PeerSilence=1\nSlurmdSilence=2\nTestProgram=/bin/true\n" + more;
    return options;
  }
  // All know their neighbours and have heard them.
  void wait_for_watchers() {
    for (const auto& name : cluster().nodes())
      ASSERT_TRUE(healthd_says(name, "hears all ")) << name;
  }
  std::string logs() {
    std::string text;
    for (const auto& name : cluster().nodes())
      text += text_of(cluster().path("log/healthd-" + name + ".log"));
    return text;
  }
  bool someone_says(const std::string& what) {
    return wait_until([&] { return logs().find(what) != std::string::npos; },
                      std::chrono::seconds(60));
  }
  std::string state(const std::string& name) {
    return cluster().run({"scontrol", "show", "node", name}).output;
  }
};

TEST_F(SilenceLive, ANodeThatDiesWholeLosesItsJobToOthersAndComesBackWhenItLives) {
  start(watchful());
  wait_for_watchers();
  const auto id = train();
  const auto lost = job(id).nodes.back();
  ASSERT_TRUE(cluster().kill("healthd-" + lost).ok());
  ASSERT_TRUE(cluster().kill("slurmd-" + lost).ok());
  ASSERT_TRUE(runs_again(id, 1)) << logs();
  EXPECT_THAT(job(id).nodes, Not(Contains(lost)));
  EXPECT_THAT(state(lost), AllOf(HasSubstr("DOWN"), HasSubstr("DRAIN"),
                                 HasSubstr("ACRF: node_lost node drain [" + lost)));
  for (const auto& name : cluster().nodes()) EXPECT_EQ(node(name).drained, name == lost) << name;

  ASSERT_TRUE(cluster().start_slurmd(lost).ok());
  ASSERT_TRUE(cluster().start_healthd(lost).ok());
  EXPECT_TRUE(healthd_says(lost, "is back in service, on probation"));
  EXPECT_TRUE(wait_until([&] { return !node(lost).drained; })) << state(lost);
}

TEST_F(SilenceLive, ADeadDaemonAloneIsToldAndDrainsNothing) {
  start(watchful());
  wait_for_watchers();
  const auto id = train();
  const auto silent = job(id).nodes.back();
  ASSERT_TRUE(cluster().kill("healthd-" + silent).ok());
  ASSERT_TRUE(someone_says("neighbour " + silent + ": acrf-healthd has not answered")) << logs();
  EXPECT_FALSE(node(silent).drained);
  EXPECT_EQ(job(id).restarts, 0);
  ASSERT_TRUE(cluster().start_healthd(silent).ok());
  EXPECT_TRUE(someone_says("neighbour " + silent + ": acrf-healthd answers again")) << logs();
}

// While it was cut off, the neighbour's slurmd did not answer it either.
TEST_F(SilenceLive, AWatcherThatWasCutOffDoesNotAccuseAnotherForIt) {
  auto options = watchful();
  options.nodes = 5;
  options.networks = true;
  start(options);
  wait_for_watchers();
  ASSERT_TRUE(cluster().cut_off("n1").ok());
  ASSERT_TRUE(cluster().kill("healthd-n2").ok());
  ASSERT_TRUE(wait_until([&] { return node("n1").drained; })) << logs();
  ASSERT_TRUE(cluster().join("n1").ok());
  ASSERT_TRUE(someone_says("neighbour n2: acrf-healthd has not answered")) << logs();
  EXPECT_FALSE(node("n2").drained) << logs();
  EXPECT_THAT(logs(), Not(HasSubstr("draining node n2")));
}

// The others are cut off from each other, not dead: nobody may drain anybody.
TEST_F(SilenceLive, WhenMostFallSilentNobodyIsAccused) {
  auto options = watchful();
  options.nodes = 5;
  start(options);
  wait_for_watchers();
  for (const std::string name : {"n2", "n3", "n4"}) {
    ASSERT_TRUE(cluster().signal("healthd-" + name, SIGSTOP).ok());
    ASSERT_TRUE(cluster().signal("slurmd-" + name, SIGSTOP).ok());
  }
  ASSERT_TRUE(wait_until([&] {
    return logs().find("misses 3 of 4 neighbours") != std::string::npos;
  })) << logs();
  for (const std::string name : {"n2", "n3", "n4"}) {
    EXPECT_FALSE(node(name).drained) << name;
    ASSERT_TRUE(cluster().signal("slurmd-" + name, SIGCONT).ok());
    ASSERT_TRUE(cluster().signal("healthd-" + name, SIGCONT).ok());
  }
  EXPECT_THAT(logs(), Not(HasSubstr("node_lost")));
}

}  // namespace
}  // namespace acrf::minicluster
