// SPDX-License-Identifier: GPL-2.0-or-later
// acrf run: a job that loses a node goes on inside its allocation.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "build_paths.h"
#include "common/checkpoint_dir.h"
#include "common/file.h"
#include "core/progress_report.h"
#include "core/text.h"
#include "locked_ranks.h"

namespace acrf::minicluster {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Failover : public LiveCluster {
 protected:
  // Submits a script that runs the example trainer by acrf run; gives the job's id once all ranks
  // have begun.
  std::string train(const std::vector<std::string>& options, int ranks) {
    const auto id = sbatch(options, "acrf run -- " ACRF_EXAMPLES "/trainer");
    EXPECT_TRUE(wait_until([&] { return beginnings() == ranks; })) << text_of(output());
    return id;
  }

  std::string sbatch(const std::vector<std::string>& options, const std::string& line) {
    const auto script = root_ + "/job";
    EXPECT_TRUE(write_file(script, "#!/bin/bash\n" + line + "\n", 0755).ok());
    std::vector<std::string> command = {"env",
                                        "TRAIN_STEPS=100000",
                                        "TRAIN_STEP_SECONDS=0.1",
                                        "sbatch",
                                        "--parsable",
                                        "--gpus-per-node=8",
                                        "--open-mode=append",
                                        "--output=" + output(),
                                        "--acrf-policy=failover",
                                        "--acrf-checkpoint-dir=" + checkpoints()};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(script);
    const auto submitted = cluster().run(command);
    EXPECT_TRUE(submitted.ok()) << submitted.errors;
    return std::string(trim(submitted.output));
  }

  // Lines in which ranks say that they begin, in all runs so far.
  int beginnings() { return static_cast<int>(lines_of_ranks().size()); }

  // Where each rank began last.
  std::map<std::string, std::string> nodes_of_ranks() {
    std::map<std::string, std::string> nodes;
    for (const auto& line : lines_of_ranks()) {
      const auto words = split(line, ' ');
      nodes[std::string(words[1])] = std::string(words[3].substr(0, words[3].size() - 1));
    }
    return nodes;
  }

  // Ranks that report their steps until there is a file "stop", beside a watcher.
  std::string watched(const std::vector<std::string>& options) {
    const auto rank = root_ + "/rank";
    EXPECT_TRUE(write_file(rank,
                           "#!/bin/bash\n"
                           "echo \"rank $SLURM_PROCID on $SLURMD_NODENAME: started from nothing\"\n"
                           "for ((step = 1; ; step++)); do\n"
                           "  sleep 0.2\n"
                           "  while [ -e " +
                               root_ +
                               "/stop ]; do sleep 0.2; done\n"
                               "  acrf progress $step\n"
                               "done\n",
                           0755)
                    .ok());
    return sbatch(options,
                  "acrf progress watch --interval 0.3 --hang-floor 5 --hang-factor 4 &\n"
                  "acrf run -- " +
                      rank);
  }

  // The first rank's last step under this fence.
  std::int64_t reported(const std::string& fence) {
    const auto report =
        parse_rank_report(0, text_of(checkpoints() + "/.acrf-progress/" + fence + "-0"));
    return report.beats.empty() ? 0 : report.beats.back().step;
  }

  std::string comment(const std::string& id) {
    return cluster().run({"squeue", "-h", "-j", id, "-o", "%k"}).output;
  }

 private:
  std::vector<std::string> lines_of_ranks() {
    std::vector<std::string> lines;
    const auto text = text_of(output());
    for (const auto line : split(text, '\n'))
      if (starts_with(line, "rank ") && (line.find(": resumed from ") != std::string_view::npos ||
                                         line.find(": started from ") != std::string_view::npos))
        lines.emplace_back(line);
    return lines;
  }
};

TEST_F(Failover, ASpareTakesThePlaceOfALostNodeWithoutARequeue) {
  start(small());
  const auto id = train({"-N3", "--acrf-spares=1"}, 2);
  ASSERT_TRUE(wait_until([&] { return newest_checkpoint(checkpoints()).has_value(); }));
  const auto before = nodes_of_ranks();
  const auto healthy = before.at("0");
  const auto broken = before.at("1");
  EXPECT_THAT(comment(id), HasSubstr("acrf-run:can-lose=1"));
  inject(broken);
  ASSERT_TRUE(wait_until([&] { return beginnings() == 4; })) << text_of(output());
  std::vector<std::string> after;
  for (const auto& [rank, node] : nodes_of_ranks()) after.push_back(node);
  EXPECT_EQ(after.size(), 2U);
  EXPECT_THAT(after, Contains(healthy));
  EXPECT_THAT(after, Not(Contains(broken)));
  EXPECT_FALSE(resumptions(output()).empty()) << "it began from its checkpoint";
  // acrf-healthd leaves the job to its launcher for good.
  ASSERT_TRUE(healthd_says(broken, "closed: node drained"));
  EXPECT_EQ(job(id).restarts, 0);
  EXPECT_EQ(job(id).state, "RUNNING");
  EXPECT_THAT(comment(id), HasSubstr("acrf-run:can-lose=0,without=" + broken));
}

TEST_F(Failover, TheWatcherGoesOnWithTheNewRanks) {
  start(small());
  const auto id = watched({"-N3", "--acrf-spares=1"});
  ASSERT_TRUE(wait_until([&] { return reported(id + ".0") >= 10; })) << text_of(output());
  inject(nodes_of_ranks().at("1"));
  // Forty steps take longer than the watcher bears silence.
  ASSERT_TRUE(wait_until([&] { return reported(id + ".0.1") >= 40; }, std::chrono::seconds(60)))
      << text_of(output());
  EXPECT_THAT(text_of(output()), Not(HasSubstr("hangs")));
  EXPECT_THAT(comment(id), Not(HasSubstr("acrf-progress:hang")));
  ASSERT_TRUE(write_file(root_ + "/stop", "").ok());
  EXPECT_TRUE(wait_until([&] {
    return text_of(output()).find("hangs: no step in") != std::string::npos;
  })) << text_of(output());
  EXPECT_EQ(job(id).restarts, 0);
}

TEST_F(Failover, TheScriptsNextRunIsNoOlderThanItsLastStep) {
  start(small());
  const auto rank =
      program("rank",
              "echo \"rank $SLURM_PROCID on $SLURMD_NODENAME: started from nothing\"\n"
              "while [ ! -e " +
                  programs() + "/go ]; do sleep 0.05; done\n");
  const auto id =
      sbatch({"-N3", "--acrf-spares=1"}, "mkdir -p " + checkpoints() + "\nacrf run -- " + rank +
                                             "\nacrf run -- sh -c 'echo the fence is $ACRF_FENCE'");
  ASSERT_TRUE(wait_until([&] { return beginnings() == 2; })) << text_of(output());
  inject(nodes_of_ranks().at("1"));
  ASSERT_TRUE(wait_until([&] { return beginnings() == 4; })) << text_of(output());
  ASSERT_TRUE(write_file(programs() + "/go", "").ok());
  EXPECT_TRUE(wait_until([&] {
    return text_of(output()).find("the fence is " + id + ".0.1\n") != std::string::npos;
  })) << text_of(output());
}

TEST_F(Failover, TheJobIsRequeuedWhenNoSpareIsLeft) {
  start(small());
  const auto id = train({"-N2", "--acrf-spares=1"}, 1);
  inject(nodes_of_ranks().at("0"));
  ASSERT_TRUE(wait_until([&] { return beginnings() == 2; })) << text_of(output());
  const auto second = nodes_of_ranks().at("0");
  inject(second);
  ASSERT_TRUE(runs_again(id, 1)) << job(id).state;
  ASSERT_TRUE(wait_until([&] { return beginnings() == 3; })) << text_of(output());
  EXPECT_THAT(job(id).nodes, Not(Contains(second)));
}

TEST_F(Failover, AnElasticJobGoesOnSmaller) {
  start(small());
  const auto id = train({"-N2", "--acrf-min-nodes=1"}, 2);
  const auto before = nodes_of_ranks();
  inject(before.at("0"));
  ASSERT_TRUE(wait_until([&] { return beginnings() == 3; })) << text_of(output());
  EXPECT_EQ(nodes_of_ranks().at("0"), before.at("1"));
  EXPECT_EQ(job(id).restarts, 0);
}

TEST_F(Failover, WithoutTheLauncherTheJobIsRequeued) {
  start(small());
  const auto id = sbatch({"-N3", "--acrf-spares=1"}, "srun -N2 -n2 " ACRF_EXAMPLES "/trainer");
  ASSERT_TRUE(wait_until([&] { return beginnings() == 2; })) << text_of(output());
  // Of the four nodes three are left, which is what the job wants.
  inject(nodes_of_ranks().at("1"));
  ASSERT_TRUE(runs_again(id, 1));
}

// The spare that the table names first is below another switch.
TEST_F(Failover, TheReplacementIsTheSpareThatRaisesTrafficLeast) {
  auto options = small();
  options.nodes = 5;
  options.topology =
      "SwitchName=near Nodes=n[2-5]\nSwitchName=far Nodes=n1\nSwitchName=top Switches=near,far\n";
  start(options);
  train({"-N5", "--acrf-spares=2"}, 3);
  const auto before = nodes_of_ranks();
  for (const auto& [rank, node] : before) EXPECT_NE(node, "n1");
  inject(before.at("1"));
  ASSERT_TRUE(wait_until([&] { return beginnings() == 6; })) << text_of(output());
  std::vector<std::string> after;
  for (const auto& [rank, node] : nodes_of_ranks()) after.push_back(node);
  EXPECT_THAT(after, Not(Contains("n1")));
  EXPECT_THAT(after, Not(Contains(before.at("1"))));
  EXPECT_THAT(after, Contains(before.at("0")));
  EXPECT_THAT(after, Contains(before.at("2")));
}

TEST_F(Failover, AJobThatLosesASpareGoesOnAsItIs) {
  start(small());
  const auto id = train({"-N3", "--acrf-spares=1"}, 2);
  auto spare = job(id).nodes;
  for (const auto& [rank, node] : nodes_of_ranks())
    spare.erase(std::remove(spare.begin(), spare.end(), node), spare.end());
  ASSERT_EQ(spare.size(), 1U);
  inject(spare.front());
  ASSERT_TRUE(wait_until([&] {
    return comment(id).find("acrf-run:can-lose=0,without=" + spare.front()) != std::string::npos;
  })) << comment(id);
  ASSERT_TRUE(healthd_says(spare.front(), "closed: node drained"));
  EXPECT_EQ(job(id).state, "RUNNING");
  EXPECT_EQ(job(id).restarts, 0);
  EXPECT_EQ(beginnings(), 2);
}

TEST_F(Failover, TheProgramsStatusIsTheLaunchersAndItsRanksFindEachOther) {
  start(small());
  const auto id = sbatch(
      {"-N3", "--ntasks-per-node=2", "--acrf-spares=1"},
      "acrf run --tasks-per-node=2 --verdict-wait=0 -- sh -c 'echo \"task $SLURM_PROCID node "
      "$NODE_RANK of $NNODES at $MASTER_ADDR:$MASTER_PORT fence $ACRF_FENCE\"; exit 7'\n"
      "echo \"status $?\"");
  ASSERT_TRUE(wait_until([&] { return text_of(output()).find("status ") != std::string::npos; }));
  const auto text = text_of(output());
  EXPECT_THAT(text, HasSubstr("status 7\n"));
  for (int task = 0; task < 4; ++task)
    EXPECT_THAT(text, HasSubstr("task " + std::to_string(task) + " node " +
                                std::to_string(task / 2) + " of 2 at 127.0.0.1:2"));
  EXPECT_THAT(text, HasSubstr("fence " + id + ".0\n"));
}

TEST_F(Failover, ASignalReachesTheProgram) {
  start(small());
  const auto id = sbatch({"-N2", "--acrf-spares=1"},
                         "acrf run -- sh -c 'trap \"echo caught; exit 3\" USR1; echo ready; while "
                         ":; do sleep 0.1; done' &\n"
                         "trap 'kill -USR1 $!' USR1\nwait $!\nwait $!\necho \"status $?\"");
  ASSERT_TRUE(wait_until([&] { return text_of(output()).find("ready") != std::string::npos; }));
  ASSERT_TRUE(cluster().run({"scancel", "--batch", "--signal=USR1", id}).ok());
  EXPECT_TRUE(wait_until([&] { return text_of(output()).find("caught") != std::string::npos; }))
      << text_of(output());
}

class SickLauncher : public LockedRanks, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Launcher, SickLauncher, testing::Values("STOP", "KILL"),
                         [](const auto& signal) {
                           return std::string(signal.param) == "STOP" ? "Hangs" : "IsDead";
                         });

TEST_P(SickLauncher, IsWaitedForNoLongerThanItsJobCanBear) {
  start(small());
  const auto id = submit_launched({"-N3", "--acrf-spares=1"});
  ASSERT_TRUE(wait_until([&] { return lines_in("began") == 2; })) << text_of(output());
  ASSERT_TRUE(wait_until([&] {
    return cluster().run({"squeue", "-h", "-j", id, "-o", "%k"}).output.find("can-lose=1") !=
           std::string::npos;
  }));
  ASSERT_TRUE(upset_launcher(GetParam()));
  const auto broken = node_of_last_rank();
  inject(broken);
  ASSERT_TRUE(runs_again(id, 1)) << job(id).state;
  ASSERT_TRUE(wait_until([&] { return lines_in("began") == 4; }, std::chrono::seconds(60)))
      << text_of(output());
  EXPECT_THAT(job(id).nodes, Not(Contains(broken)));
  EXPECT_TRUE(completes(id)) << job(id).state << text_of(output());
  EXPECT_EQ(job(id).restarts, 1);
  EXPECT_EQ(lines_in("began"), 4U);
  EXPECT_EQ(twice(), "") << "a rank of the first run was still there";
}

}  // namespace
}  // namespace acrf::minicluster
