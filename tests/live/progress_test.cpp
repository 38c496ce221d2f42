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

using testing::HasSubstr;

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
  ASSERT_TRUE(write_file(root_ + "/stop", "").ok());
  ASSERT_TRUE(comment_says(id, "acrf-progress:hang")) << text_of(output());
  EXPECT_TRUE(comment_says(id, "nodes=" + node_of(2))) << text_of(output());
  EXPECT_THAT(text_of(output()), HasSubstr("hangs: no step in"));
  EXPECT_EQ(job(id).restarts, 0) << "a verdict ends nothing by itself";
}

}  // namespace
}  // namespace acrf::minicluster
