// SPDX-License-Identifier: GPL-2.0-or-later
// acrf progress: a job whose ranks report their steps names the rank that holds it up, and the one
// that stopped first.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "common/file.h"
#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Ranks in lockstep, by files. Told to by a file, rank 1 takes longer than the others; rank 2
// stops.
constexpr char kRank[] = R"(#!/bin/bash
for ((step = 1; step < 1000; step++)); do
  sleep 0.2
  [ "$SLURM_PROCID" != 1 ] || [ ! -e "$RUN/slow" ] || sleep 1
  [ "$SLURM_PROCID" != 2 ] || [ ! -e "$RUN/stop" ] || kill -STOP $$
  acrf progress "$step"
  touch "$RUN/step-$step-$SLURM_PROCID"
  for ((peer = 0; peer < SLURM_NTASKS; peer++)); do
    while [ ! -e "$RUN/step-$step-$peer" ]; do sleep 0.05; done
  done
done
)";

constexpr char kJob[] = R"(#!/bin/bash
srun bash -c 'echo "$SLURMD_NODENAME" >"$RUN/node-$SLURM_PROCID"'
acrf progress watch --interval 0.3 --hang-floor 5 --hang-factor 4 --straggler-time 2 &
srun "$RUN/rank"
)";

class Progress : public LiveCluster {
 protected:
  std::string node_of(int rank) {
    return std::string(trim(text_of(fmt::format("{}/node-{}", root_, rank))));
  }
  bool node_says(const std::string& name, const std::string& text) {
    return wait_until([&] { return record(name).find(text) != std::string::npos; });
  }
  // A job that only says so, whatever its nodes do.
  std::string submit_accuser(const std::string& nodes, const std::string& word) {
    const auto submitted =
        cluster().run({"sbatch", "--parsable", "-N3", "-w", nodes, "--gpus-per-node=1",
                       "--output=/dev/null", "--acrf-policy=requeue", "--wrap=sleep 600"});
    EXPECT_TRUE(submitted.ok()) << submitted.errors;
    const std::string id(trim(submitted.output));
    EXPECT_TRUE(runs_again(id, 0));
    EXPECT_TRUE(cluster().run({"scontrol", "update", "JobId=" + id, "Comment=" + word}).ok());
    return id;
  }
  bool controller_says(const std::string& text) {
    return wait_until([&] {
      return text_of(cluster().path("log/slurmctld.log")).find(text) != std::string::npos;
    });
  }
  bool comment_says(const std::string& id, const std::string& text) {
    return wait_until([&] {
      return cluster().run({"squeue", "-h", "-j", id, "-o", "%k"}).output.find(text) !=
             std::string::npos;
    });
  }
};

TEST_F(Progress, ASlowRankIsNamedAndThenTheOneThatStoppedFirst) {
  start(small());
  ASSERT_TRUE(write_file(root_ + "/rank", kRank, 0755).ok());
  ASSERT_TRUE(write_file(root_ + "/job", kJob, 0755).ok());
  const auto submitted =
      cluster().run({"env", "RUN=" + root_, "sbatch", "--parsable", "-N3", "--ntasks-per-node=1",
                     "--gpus-per-node=1", "--output=" + output(), "--acrf-policy=requeue",
                     "--acrf-checkpoint-dir=" + checkpoints(), root_ + "/job"});
  ASSERT_TRUE(submitted.ok()) << submitted.errors;
  const std::string id(trim(submitted.output));
  ASSERT_TRUE(wait_until([&] {
    return !text_of(checkpoints() + "/.acrf-progress/" + id + ".0-0").empty();
  })) << text_of(output());
  ASSERT_TRUE(write_file(root_ + "/slow", "").ok());
  ASSERT_TRUE(comment_says(id, "acrf-progress:slow")) << text_of(output());
  EXPECT_TRUE(comment_says(id, "nodes=" + node_of(1))) << text_of(output());
  EXPECT_TRUE(node_says(node_of(1), "accused=")) << "it is a suspect";
  ASSERT_TRUE(write_file(root_ + "/stop", "").ok());
  ASSERT_TRUE(comment_says(id, "acrf-progress:hang")) << text_of(output());
  EXPECT_TRUE(comment_says(id, "nodes=" + node_of(2))) << text_of(output());
  EXPECT_TRUE(node_says(node_of(2), "accused=")) << "it is a suspect";
  const auto life = cluster().run({"acrf", "job", id}).output;
  EXPECT_THAT(life, HasSubstr(node_of(1) + " is slower than its peers"));
  EXPECT_THAT(life, HasSubstr(node_of(2) + " stopped first"));
  EXPECT_THAT(text_of(output()), HasSubstr("hangs: no step in"));
  EXPECT_EQ(job(id).restarts, 0) << "a verdict ends nothing by itself";
}

TEST_F(Progress, JobsTakeASuspectLast) {
  auto options = small();
  options.healthd = false;
  start(options);
  const auto accuser = submit_accuser("n[1-3]", "acrf-progress:slow,step=9,nodes=n2");
  ASSERT_TRUE(node_says("n2", "accused="));
  ASSERT_TRUE(cluster().run({"scancel", accuser}).ok());
  ASSERT_TRUE(wait_until([&] { return job(accuser).state == "CANCELLED"; }));
  const auto place = [&](const char* nodes) {
    const auto submitted =
        cluster().run({"sbatch", "--parsable", nodes, "--gpus-per-node=8", "--output=/dev/null",
                       "--acrf-policy=requeue", "--wrap=sleep 600"});
    const std::string id(trim(submitted.output));
    EXPECT_TRUE(runs_again(id, 0)) << submitted.errors;
    return job(id).nodes;
  };
  EXPECT_THAT(place("-N3"), ElementsAre("n1", "n3", "n4"));
  EXPECT_THAT(place("-N1"), ElementsAre("n2"));
}

// Any user may write the word into his job's comment.
TEST_F(Progress, AUserCannotMakeNodesSuspectsAtWill) {
  auto options = small();
  options.nodes = 6;
  options.healthd = false;
  options.acrf_conf = "SuspectsPerUser=1\n";
  start(options);
  submit_accuser("n[1-3]", "acrf-progress:slow,step=9,nodes=n5");
  submit_accuser("n[1-3]", "acrf-progress:slow,step=9,nodes=n[1-2]");
  submit_accuser("n[1-3]", "acrf-progress:hang,step=9,nodes=n1");
  ASSERT_TRUE(node_says("n1", "accused="));
  submit_accuser("n[4-6]", "acrf-progress:slow,step=9,nodes=n4");
  ASSERT_TRUE(controller_says("not made a suspect: SuspectsPerUser"));
  for (const char* other : {"n2", "n3", "n4", "n5", "n6"})
    EXPECT_THAT(record(other), Not(HasSubstr("accused="))) << other;
}

TEST_F(Progress, ASuspectIsNoneAnyMoreWhenItsTimeIsUp) {
  auto options = small();
  options.healthd = false;
  options.acrf_conf = "SuspectTime=1\n";
  start(options);
  const auto id = submit_accuser("n[1-3]", "acrf-progress:slow,step=9,nodes=n2");
  ASSERT_TRUE(controller_says("a suspect for 1 s"));
  ASSERT_TRUE(cluster().run({"scancel", id}).ok());
  EXPECT_TRUE(wait_until([&] { return record("n2").find("accused=") == std::string::npos; },
                         std::chrono::seconds(90)));
}

}  // namespace
}  // namespace acrf::minicluster
