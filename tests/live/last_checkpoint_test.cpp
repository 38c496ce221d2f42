// SPDX-License-Identifier: GPL-2.0-or-later
// The last checkpoint before a requeue: a job whose GPU is about to be replaced and works on is
// asked to save itself, once and for a bounded time; one whose GPU is gone is not.
#include <gmock/gmock.h>

#include <algorithm>

#include "common/file.h"
#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Has one checkpoint before it is asked for another.
constexpr char kRank[] = R"(#!/bin/bash
run=${SLURM_RESTART_COUNT:-0}
save() {
  mkdir "$ACRF_CHECKPOINT_DIR/.draft-$1" && echo "$1" >"$ACRF_CHECKPOINT_DIR/.draft-$1/weights"
  acrf checkpoint publish "$ACRF_CHECKPOINT_DIR/.draft-$1" --as "step-$1"
}
asked() {
  echo asked >>"$RUN/asked"
  [ -n "$DEAF" ] || save 2
}
trap asked USR1
[ "$run" != 0 ] || save 1
echo "$ACRF_RESUME_FROM" >>"$RUN/began-$run"
while :; do sleep 0.1; done
)";

class LastCheckpointLive : public LiveCluster {
 protected:
  std::string submit(const std::vector<std::string>& options, bool deaf = false) {
    EXPECT_TRUE(write_file(root_ + "/rank", kRank, 0755).ok());
    std::vector<std::string> command = {"env",
                                        "RUN=" + root_,
                                        deaf ? "DEAF=1" : "DEAF=",
                                        "sbatch",
                                        "--parsable",
                                        "--output=" + output(),
                                        "-N1",
                                        "--gpus-per-node=8",
                                        "--acrf-policy=requeue",
                                        "--acrf-workload=training",
                                        "--acrf-checkpoint-dir=" + checkpoints()};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back("--wrap=srun " + root_ + "/rank");
    const auto submitted = cluster().run(command);
    EXPECT_TRUE(submitted.ok()) << submitted.errors;
    const std::string id(trim(submitted.output));
    EXPECT_TRUE(wait_until([&] { return !began(0).empty(); })) << text_of(output());
    return id;
  }

  std::string began(int restart) { return text_of(root_ + "/began-" + std::to_string(restart)); }
  std::size_t times_asked() {
    const auto text = text_of(root_ + "/asked");
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  bool begins_again() {
    return wait_until([&] { return !began(1).empty(); }, std::chrono::seconds(60));
  }
  std::string life(const std::string& id) { return cluster().run({"acrf", "job", id}).output; }
};

TEST_F(LastCheckpointLive, AJobThatSavesInTimeComesBackFromWhatItSaved) {
  auto options = small();
  options.acrf_conf = "LastCheckpointTime=600\n";
  start(options);
  const auto id = submit({});
  const auto broken = job(id).nodes.front();
  inject_fault(broken, {"--fault", "remap-failure"});
  ASSERT_TRUE(begins_again()) << job(id).state << " " << text_of(output());
  EXPECT_EQ(began(1), checkpoints() + "/step-2\n");
  EXPECT_THAT(job(id).nodes, Not(Contains(broken)));
  EXPECT_EQ(times_asked(), 1U);
  EXPECT_THAT(life(id),
              HasSubstr("last_checkpoint job " + id + " on " + broken + ": done, step-2 after "));
}

TEST_F(LastCheckpointLive, AJobThatDoesNotSaveIsRequeuedWhenItsTimeIsUp) {
  auto options = small();
  options.acrf_conf = "LastCheckpointTime=600\n";
  start(options);
  const auto id = submit({"--acrf-last-checkpoint=2s"}, true);
  const auto broken = job(id).nodes.front();
  inject_fault(broken, {"--fault", "remap-failure"});
  ASSERT_TRUE(begins_again()) << job(id).state << " " << text_of(output());
  EXPECT_EQ(began(1), checkpoints() + "/step-1\n");
  EXPECT_EQ(times_asked(), 1U);
  EXPECT_THAT(life(id), HasSubstr("failed, no checkpoint within 2 s"));
}

TEST_F(LastCheckpointLive, AJobOnAGpuThatIsGoneIsNotAsked) {
  auto options = small();
  options.acrf_conf = "LastCheckpointTime=600\n";
  start(options);
  const auto id = submit({});
  inject(job(id).nodes.front());
  ASSERT_TRUE(begins_again()) << job(id).state << " " << text_of(output());
  EXPECT_EQ(began(1), checkpoints() + "/step-1\n");
  EXPECT_EQ(times_asked(), 0U);
}

TEST_F(LastCheckpointLive, ADaemonThatIsRestartedMeanwhileGoesOnWaitingAndDoesNotAskTwice) {
  start(small());
  const auto id = submit({"--acrf-last-checkpoint=5s"}, true);
  const auto broken = job(id).nodes.front();
  inject_fault(broken, {"--fault", "remap-failure"});
  ASSERT_TRUE(wait_until([&] { return times_asked() == 1; })) << text_of(output());
  ASSERT_TRUE(cluster().kill("healthd-" + broken).ok());
  ASSERT_TRUE(cluster().start_healthd(broken).ok());
  ASSERT_TRUE(begins_again()) << job(id).state << " " << text_of(output());
  EXPECT_EQ(times_asked(), 1U);
  EXPECT_THAT(life(id), HasSubstr("no checkpoint within 5 s"));
}

TEST_F(LastCheckpointLive, AControllerThatDiesBeforeTheJobIsAskedCostsItsCheckpointNothing) {
  auto options = holding();
  options.slurm_conf += "MessageTimeout=2\n";
  options.acrf_conf = "LastCheckpointTime=600\n";
  start(options);
  const auto id = submit({});
  ASSERT_TRUE(job_state_is_saved());
  const auto broken = job(id).nodes.front();
  hold("slurm_signal_job", broken);
  inject_fault(broken, {"--fault", "remap-failure"});
  ASSERT_TRUE(is_held("slurm_signal_job", broken));
  ASSERT_TRUE(cluster().kill("slurmctld").ok());
  let_go("slurm_signal_job", broken);
  ASSERT_TRUE(healthd_says(broken, "trying again"));
  ASSERT_TRUE(cluster().start_slurmctld().ok());
  ASSERT_TRUE(begins_again()) << job(id).state << " " << text_of(output());
  EXPECT_EQ(began(1), checkpoints() + "/step-2\n");
  EXPECT_EQ(times_asked(), 1U);
  EXPECT_EQ(job(id).restarts, 1);
}

// It has noted that it asks, and does not know whether it did.
TEST_F(LastCheckpointLive, ADaemonThatDiesBeforeTheJobIsAskedDoesNotAskItTwice) {
  start(holding());
  const auto id = submit({"--acrf-last-checkpoint=5s"});
  const auto broken = job(id).nodes.front();
  hold("slurm_signal_job", broken);
  inject_fault(broken, {"--fault", "remap-failure"});
  ASSERT_TRUE(is_held("slurm_signal_job", broken));
  ASSERT_TRUE(cluster().kill("healthd-" + broken).ok());
  let_go("slurm_signal_job", broken);
  ASSERT_TRUE(cluster().start_healthd(broken).ok());
  ASSERT_TRUE(begins_again()) << job(id).state << " " << text_of(output());
  EXPECT_EQ(began(1), checkpoints() + "/step-1\n");
  EXPECT_EQ(times_asked(), 0U);
  EXPECT_EQ(job(id).restarts, 1);
}

}  // namespace
}  // namespace acrf::minicluster
