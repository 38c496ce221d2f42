// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-healthd or slurmctld is killed or frozen at each step of an act and of the ladder. Every
// node is at another step when it happens, and all of them come to the end that they would have
// come to: nothing is lost, nothing is done twice. Once with whole nodes drained, once with GPUs
// hidden.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "common/file.h"
#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kRequeue[] = "slurm_requeue";
constexpr char kReset[] = "run.reset";
constexpr char kInReset[] = "resetting";  // the program runs
constexpr char kNote[] = "note";          // the last place: the end of probation

class Interruption : public LiveCluster, public testing::WithParamInterface<bool> {
 protected:
  bool hides_gpus() const { return GetParam(); }

  // Nine nodes, a job on one of them, and a fault on all but one, each of which stops at its step.
  void begin() {
    start(nine_nodes());
    submit_job();
    ASSERT_TRUE(job_state_is_saved());
    choose_places();
    for (const auto& place : places_)
      if (&place != &places_.back()) hold(place.second, place.first);
    for (const auto& place : places_) inject_fault(place.first, {"--fault", "reset-required"});
    // A hidden GPU's return is such a change of the comment too.
    ASSERT_TRUE(healthd_says(places_.back().first, "is back in service, on probation"));
    hold(kNote, places_.back().first);
    for (const auto& [node, step] : places_)
      ASSERT_TRUE(step == kInReset ? was_reset(node) : is_held(step, node)) << node << " " << step;
  }

  void go_on() {
    for (const auto& [node, step] : places_) let_go(step, node);
  }

  // Every node but those is healthy again, and was reset once.
  void expect_all_healed(const std::string& but_at = "") {
    for (const auto& [node, step] : places_) {
      if (step == but_at) continue;
      EXPECT_TRUE(healthd_says(node, "probation -> healthy")) << node << " " << step;
      EXPECT_THAT(record(node), AllOf(Not(HasSubstr("DRAIN")), Not(HasSubstr("gpus=")),
                                      Not(HasSubstr("probation")), Not(HasSubstr("claim="))));
      EXPECT_EQ(resets(node), 1) << node << " " << step;
    }
    // Once for its first node, and again if it was given one whose drain was still to come.
    EXPECT_TRUE(wait_until([&] {
      const auto look = job(job_);
      return look.state == "RUNNING" && look.restarts >= 1;
    }));
  }

  std::string node_at(const std::string& step) const {
    for (const auto& place : places_)
      if (place.second == step) return place.first;
    return "";
  }
  int resets(const std::string& node) {
    const auto text = text_of(programs() + "/resets");
    const auto lines = split(text, '\n');
    return static_cast<int>(std::count(lines.begin(), lines.end(), node));
  }

  int drains(const std::string& node) {
    const auto log = text_of(root_ + "/log/slurmctld.log");
    const auto line = "update_node: node " + node + " state set to DRAIN";
    int count = 0;
    for (auto at = log.find(line); at != std::string::npos; at = log.find(line, at + 1)) ++count;
    return count;
  }

  std::vector<std::pair<std::string, std::string>> places_;  // node and step

 private:
  ClusterOptions nine_nodes() {
    const auto reset =
        program("reset", cure("\"$1\"") + "echo $1 >> " + programs() + "/resets\nwhile [ -e " +
                             root_ + "/run/" + kInReset + ".$1 ]; do sleep 0.05; done\n");
    auto options = holding();
    options.nodes = 9;
    options.slurm_conf += "MessageTimeout=2\n";
    options.acrf_conf = std::string("GpuQuarantine=") + (hides_gpus() ? "on" : "off") +
                        "\nProbationTime=5\nMaxDrainsPerHour=100%\nMaxDrained=100%\nMinHealthy=0%\n"
                        "CommonCauseNodes=0\nResetProgram=" +
                        reset + "\nTestProgram=" + program("test", "exit 0\n") + "\n";
    return options;
  }

  void submit_job() {
    const auto script = program("job", "sleep 1000\n");
    const auto submitted = cluster().run({"sbatch", "--parsable", "--gpus-per-node=8", "-N1",
                                          "--output=/dev/null", "--acrf-policy=requeue", script});
    ASSERT_TRUE(submitted.ok()) << submitted.errors;
    job_ = std::string(trim(submitted.output));
    ASSERT_TRUE(wait_until([&] { return job(job_).state == "RUNNING"; }));
    // A change, so that slurmctld writes the job as it is now.
    ASSERT_TRUE(cluster().run({"scontrol", "update", "JobId=" + job_, "Nice=1"}).ok());
  }

  // In the order in which an act and a repair come to them.
  void choose_places() {
    const std::vector<std::string> steps = {
        "claim",    hides_gpus() ? "quarantine" : "drain", kReset, kInReset,
        "run.test", hides_gpus() ? kNote : "resume",       kNote};
    const auto with_job = job(job_).nodes.front();
    places_ = {{with_job, kRequeue}};
    for (const auto& node : cluster().nodes())
      if (node != with_job && places_.size() <= steps.size())
        places_.emplace_back(node, steps[places_.size() - 1]);
  }

  bool was_reset(const std::string& node) {
    return wait_until([&] { return resets(node) == 1; });
  }

  std::string job_;
};

INSTANTIATE_TEST_SUITE_P(Live, Interruption, testing::Bool(), [](const auto& test) {
  return test.param ? std::string("OfGpus") : std::string("OfNodes");
});

TEST_P(Interruption, HealthdIsKilled) {
  ASSERT_NO_FATAL_FAILURE(begin());
  for (const auto& place : places_) ASSERT_TRUE(cluster().kill("healthd-" + place.first).ok());
  go_on();
  for (const auto& place : places_) ASSERT_TRUE(cluster().start_healthd(place.first).ok());
  // Nobody knows whether the reset was begun that was about to be: it is not made again.
  expect_all_healed(kReset);
  for (const auto& place : places_) EXPECT_LE(drains(place.first), 1) << place.second;
  const auto unsure = node_at(kReset);
  EXPECT_TRUE(healthd_says(unsure, "drained -> attended: only a reboot is left to try"));
  EXPECT_EQ(resets(unsure), 0);
}

TEST_P(Interruption, SlurmctldIsKilled) {
  ASSERT_NO_FATAL_FAILURE(begin());
  ASSERT_TRUE(cluster().kill("slurmctld").ok());
  go_on();
  ASSERT_TRUE(cluster().start_slurmctld().ok());
  expect_all_healed();
}

TEST_P(Interruption, SlurmctldIsFrozen) {
  ASSERT_NO_FATAL_FAILURE(begin());
  ASSERT_TRUE(cluster().signal("slurmctld", SIGSTOP).ok());
  go_on();
  for (const auto& place : places_) EXPECT_TRUE(healthd_says(place.first, "trying again"));
  ASSERT_TRUE(cluster().signal("slurmctld", SIGCONT).ok());
  expect_all_healed();
}

}  // namespace
}  // namespace acrf::minicluster
