// SPDX-License-Identifier: GPL-2.0-or-later
// A job's way through a fault, on a real cluster.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "build_paths.h"
#include "common/checkpoint_seal.h"
#include "common/file.h"
#include "core/text.h"
#include "fakegpu/state.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Recovery : public LiveCluster {
 protected:
  void expect_node_drained_by_acrf(const std::string& name) {
    EXPECT_TRUE(wait_until([&] { return node(name).drained; })) << name;
    EXPECT_THAT(node(name).reason, StartsWith("ACRF: gpu_lost 0000:10:00 reboot_node ["));
  }

  void write_checkpoint(const std::string& name, bool sealed) {
    fs::create_directories(checkpoints() + "/" + name);
    ASSERT_TRUE(write_file(checkpoints() + "/" + name + "/step", "7\n", 0644).ok());
    if (!sealed) return;
    ASSERT_TRUE(seal_checkpoint(checkpoints() + "/" + name).ok());
  }
};

TEST_F(Recovery, JobComesBackElsewhereFromItsNewestCheckpoint) {
  auto options = small();
  options.slurm_conf.clear();  // Slurm's own scheduling parameters
  start(options);
  const auto run = run_fault(cluster(), "walk", [](double, const std::string&) {});
  ASSERT_TRUE(run.ok()) << run.error().sentence;
  EXPECT_THAT(run->nodes_after, Not(Contains(run->node)));
  for (const auto& name : cluster().nodes())
    EXPECT_EQ(node(name).drained, name == run->node) << name;
  EXPECT_THAT(cluster().run({"sinfo", "-R", "-h", "-o", "%E"}).output,
              StartsWith("ACRF: gpu_lost 0000:10:00 reboot_node [" + run->node + "-"));
}

TEST_F(Recovery, NewestByTimeButIncompleteCheckpointIsSkipped) {
  start(small());
  write_checkpoint("step-7", true);
  write_checkpoint("step-8", true);
  ASSERT_TRUE(write_file(checkpoints() + "/step-8/step", "cut\n\n", 0644).ok());  // other size
  write_checkpoint("step-9", false);
  TrainingJob training;
  training.variables = {"TRAIN_SAVE_EVERY=1000000"};
  const auto id = train(training);
  const auto before = job(id).nodes;
  inject(before.front());
  ASSERT_TRUE(runs_again(id, 1));
  ASSERT_TRUE(wait_until([&] { return resumptions(output()).size() == 2; }));
  EXPECT_THAT(resumptions(output()),
              ElementsAre(checkpoints() + "/step-7", checkpoints() + "/step-7"));
}

TEST_F(Recovery, ObserveModeTouchesNothing) {
  auto options = small();
  options.enforce = false;
  start(options);
  const auto id = train();
  const auto broken = job(id).nodes.front();
  inject(broken);
  ASSERT_TRUE(healthd_says(broken, "Mode=observe: would drain node " + broken));
  EXPECT_FALSE(wait_until([&] { return node(broken).drained || job(id).state != "RUNNING"; },
                          seconds(3), std::chrono::milliseconds(200)));
  EXPECT_EQ(job(id).restarts, 0);
}

TEST_F(Recovery, SlurmctldKilledBetweenDrainAndRequeueLosesNothing) {
  start(holding());
  const auto id = train();
  ASSERT_TRUE(job_state_is_saved());
  const auto broken = job(id).nodes.back();
  hold("slurm_requeue");
  inject(broken);
  expect_node_drained_by_acrf(broken);
  ASSERT_TRUE(cluster().kill("slurmctld").ok());
  let_go("slurm_requeue");
  ASSERT_TRUE(cluster().start_slurmctld().ok());
  ASSERT_TRUE(runs_again(id, 1, seconds(90)));
  EXPECT_THAT(job(id).nodes, Not(Contains(broken)));
  expect_node_drained_by_acrf(broken);
  // Once: it is still the first restart when the incident is closed.
  ASSERT_TRUE(healthd_says(broken, "closed: node drained"));
  EXPECT_EQ(job(id).restarts, 1);
  EXPECT_EQ(job(id).state, "RUNNING");
}

TEST_F(Recovery, HealthdKilledBetweenDrainAndRequeueLosesNothing) {
  start(holding());
  const auto id = train();
  const auto broken = job(id).nodes.back();
  hold("slurm_requeue");
  inject(broken);
  expect_node_drained_by_acrf(broken);
  ASSERT_TRUE(cluster().kill("healthd-" + broken).ok());
  let_go("slurm_requeue");
  EXPECT_EQ(job(id).restarts, 0);
  ASSERT_TRUE(cluster().start_healthd(broken).ok());
  ASSERT_TRUE(runs_again(id, 1));
  EXPECT_THAT(job(id).nodes, Not(Contains(broken)));
  ASSERT_TRUE(healthd_says(broken, "closed: node drained"));
  EXPECT_EQ(job(id).restarts, 1);
}

TEST_F(Recovery, JobThatIgnoresSigtermIsBackLongBeforeKillWait) {
  auto options = small();
  options.slurm_conf += "KillWait=600\n";
  start(options);
  TrainingJob training;
  training.variables = {"TRAIN_IGNORE_TERM=1"};
  const auto id = train(training);
  inject(job(id).nodes.front());
  EXPECT_TRUE(runs_again(id, 1, seconds(120)));
}

TEST_F(Recovery, JobThatDiesOfTheFaultBeforeAnybodyActsComesBack) {
  start(holding());
  hold("slurm_update_node");
  const auto script = root_ + "/dies";
  ASSERT_TRUE(write_file(script,
                         "#!/bin/bash\n"
                         "while [ ! -e " +
                             root_ +
                             "/run/fault ]; do sleep 0.05; done\n"
                             "[ \"$ACRF_RESTART_COUNT\" != 0 ] || exit 1\n"
                             "sleep 1000\n",
                         0755)
                  .ok());
  const auto submitted = cluster().run({"sbatch", "--parsable", "-N1", "--gpus-per-node=1",
                                        "--output=/dev/null", "--acrf-policy=requeue", script});
  ASSERT_TRUE(submitted.ok()) << submitted.errors;
  const auto id = submitted.output.substr(0, submitted.output.find('\n'));
  ASSERT_TRUE(wait_until([&] { return job(id).state == "RUNNING"; }));
  const auto broken = job(id).nodes.front();
  inject(broken);
  ASSERT_TRUE(healthd_says(broken, "draining node"));
  ASSERT_TRUE(write_file(root_ + "/run/fault", "").ok());
  ASSERT_TRUE(wait_until([&] { return job(id).state == "FAILED"; }));
  let_go("slurm_update_node");
  ASSERT_TRUE(runs_again(id, 1));
  EXPECT_THAT(job(id).nodes, Not(Contains(broken)));
}

TEST_F(Recovery, AdminsDrainKeepsItsReasonAndTheJobIsStillSaved) {
  start(small());
  const auto id = train();
  const auto broken = job(id).nodes.front();
  ASSERT_TRUE(
      cluster()
          .run({"scontrol", "update", "NodeName=" + broken, "State=DRAIN", "Reason=bad fan"})
          .ok());
  inject(broken);
  ASSERT_TRUE(runs_again(id, 1));
  EXPECT_THAT(node(broken).reason, HasSubstr("bad fan"));
}

TEST_F(Recovery, AdminsReasonOnADownNodeStays) {
  start(small());
  ASSERT_TRUE(
      cluster().run({"scontrol", "update", "NodeName=n1", "State=DOWN", "Reason=PSU swap"}).ok());
  inject("n1");
  ASSERT_TRUE(healthd_says("n1", "draining node n1"));
  ASSERT_TRUE(wait_until([&] { return node("n1").drained; }));
  EXPECT_EQ(node("n1").reason, "PSU swap");
}

TEST_F(Recovery, JobWithoutPolicyIsLeftAlone) {
  start(small());
  TrainingJob training;
  training.resilient = false;
  const auto id = train(training);
  const auto broken = job(id).nodes.front();
  inject(broken);
  expect_node_drained_by_acrf(broken);
  ASSERT_TRUE(healthd_says(broken, "closed: node drained"));
  EXPECT_EQ(job(id).state, "RUNNING");
  EXPECT_EQ(job(id).restarts, 0);
}

TEST_F(Recovery, JobThatUsedUpItsRestartsIsHeld) {
  start(small());
  TrainingJob training;
  training.options = {"--acrf-max-requeues=0"};
  const auto id = train(training);
  // Whose nodes a job had is known to slurmctld's thread half a second after its start.
  ASSERT_TRUE(wait_until([&] {
    return cluster().run({"squeue", "-h", "-j", id, "-o", "%M"}).output != "0:00\n";
  }));
  inject(job(id).nodes.front());
  ASSERT_TRUE(wait_until([&] { return job(id).state == "PENDING"; })) << job(id).state;
  EXPECT_TRUE(wait_until([&] {
    return job(id).reason == "ACRF:_no_restart_left_of_0_because_of_hardware";
  })) << job(id).reason;
}

TEST_F(Recovery, GpuThatOnlyNvmlCallsLostIsEnough) {
  start(small());
  const auto id = train();
  const auto broken = job(id).nodes.front();
  // One that was never seen alive is unknown, not lost.
  ASSERT_TRUE(healthd_knows_its_gpus(broken));
  const auto path = cluster().path("nodes/" + broken + "/gpus.json");
  auto state = fakegpu::load_state(path);
  ASSERT_TRUE(state.ok());
  state->gpus[0].lost = true;
  ASSERT_TRUE(fakegpu::save_state(path, *state).ok());
  ASSERT_TRUE(runs_again(id, 1));
  expect_node_drained_by_acrf(broken);
}

TEST_F(Recovery, LineWrittenByAUserIsNotBelieved) {
  start(small());
  const auto id = train();
  const auto node_name = job(id).nodes.front();
  const auto kmsg = cluster().path("nodes/" + node_name + "/kmsg");
  const std::string xid = "NVRM: Xid (PCI:0000:10:00): 79, GPU has fallen off the bus.\n";
  ASSERT_TRUE(append_file(kmsg, "12,1,1,-;" + xid).ok());
  // The kernel's own line about another code shows that the log is being read.
  ASSERT_TRUE(
      append_file(kmsg, "3,2,2,-;NVRM: Xid (PCI:0000:10:00): 13, Graphics Exception\n").ok());
  ASSERT_TRUE(healthd_says(node_name, "app_fault (xid 13)"));
  EXPECT_FALSE(node(node_name).drained);
  EXPECT_EQ(job(id).restarts, 0);
}

TEST_F(Recovery, UnfinishedIncidentIsLeftAloneInObserveMode) {
  start(holding());
  const auto id = train();
  const auto broken = job(id).nodes.back();
  hold("slurm_update_node");
  inject(broken);
  ASSERT_TRUE(healthd_says(broken, "draining node"));
  ASSERT_TRUE(cluster().kill("healthd-" + broken).ok());
  let_go("slurm_update_node");
  auto conf = text_of(root_ + "/etc/acrf.conf");
  conf.replace(conf.find("Mode=enforce"), 12, "Mode=observe");
  ASSERT_TRUE(write_file(root_ + "/etc/acrf.conf", conf, 0644).ok());
  ASSERT_TRUE(cluster().start_healthd(broken).ok());
  ASSERT_TRUE(healthd_says(broken, "unfinished, and left so: Mode=observe"));
  EXPECT_FALSE(node(broken).drained);
  EXPECT_EQ(job(id).restarts, 0);
}

TEST_F(Recovery, ResumedNodeIsLeftToTheAdmin) {
  start(small());
  const auto id = train();
  const auto broken = job(id).nodes.front();
  inject(broken);
  ASSERT_TRUE(runs_again(id, 1));
  ASSERT_TRUE(cluster().run({"scontrol", "update", "NodeName=" + broken, "State=RESUME"}).ok());
  ASSERT_TRUE(healthd_says(broken, "resumed by an admin"));
  EXPECT_FALSE(node(broken).drained);
  // But a fault after that is a new one.
  ASSERT_TRUE(wait_until([&] {
    inject(broken);
    return node(broken).drained;
  }));
}

// The job script of the README: its lines are indented.
std::string script_in_readme() {
  const auto readme = text_of(ACRF_EXAMPLES "/../../README.md");
  std::string script;
  const auto begin = readme.find("    #!/bin/bash");
  for (const auto line : split(std::string_view(readme).substr(begin), '\n')) {
    if (!starts_with(line, "    ")) break;
    script += std::string(line.substr(4)) + "\n";
  }
  return script;
}

TEST_F(Recovery, TheJobOfTheReadmeSurvivesAFault) {
  start(small());
  const auto script = script_in_readme();
  EXPECT_EQ(std::count(script.begin(), script.end(), '\n'), 5) << script;
  ASSERT_TRUE(write_file(root_ + "/train.sbatch", script, 0755).ok());
  fs::copy_file(ACRF_EXAMPLES "/checkpoint.py", root_ + "/train.py");
  const auto submitted =
      cluster().run({"env", "--chdir=" + root_, "TRAIN_STEPS=100000", "TRAIN_STEP_SECONDS=0.1",
                     "sbatch", "--parsable", "--output=" + output(),
                     "--acrf-checkpoint-dir=" + checkpoints(), "train.sbatch"});
  ASSERT_TRUE(submitted.ok()) << submitted.errors;
  const std::string id(trim(submitted.output));
  ASSERT_TRUE(wait_until([&] { return fs::exists(checkpoints() + "/step-5/acrf-manifest"); }))
      << text_of(output());
  const auto broken = job(id).nodes.back();
  inject(broken);
  ASSERT_TRUE(runs_again(id, 1));
  EXPECT_THAT(job(id).nodes, Not(Contains(broken)));
  // Appended to what the first run wrote, and not from the beginning.
  EXPECT_TRUE(wait_until([&] {
    const auto text = text_of(output());
    const auto first = text.find("rank 0 begins at step 0\n");
    const auto second = text.rfind("rank 0 begins at step ");
    return first != std::string::npos && second != first;
  })) << text_of(output());
}

}  // namespace
}  // namespace acrf::minicluster
