// SPDX-License-Identifier: GPL-2.0-or-later
// A job whose ranks hold a lock while they live, so that two runs of it at once show.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "common/checkpoint_seal.h"
#include "common/file.h"
#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {

class LockedRanks : public LiveCluster {
 protected:
  // Two ranks that each hold a lock while they live, say where they begin and from what, and go on
  // until finish().
  std::string submit_ranks(const std::vector<std::string>& options = {}) {
    const auto rank = root_ + "/rank";
    EXPECT_TRUE(write_file(rank,
                           "#!/bin/bash\ncd " + root_ +
                               "\nexec 9>lock-$SLURM_PROCID\n"
                               "flock -n 9 || echo rank $SLURM_PROCID >>twice\n"
                               "echo \"$ACRF_RESUME_FROM\" >>from-${SLURM_RESTART_COUNT:-0}\n"
                               "echo $SLURM_PROCID $SLURMD_NODENAME $SLURM_JOB_GPUS "
                               ">>began-${SLURM_RESTART_COUNT:-0}\n"
                               "echo $SLURM_STEP_ID >step-${SLURM_RESTART_COUNT:-0}\n"
                               "while [ ! -e finish ]; do sleep 0.1 9>&-; done\n",
                           0755)
                    .ok());
    std::vector<std::string> command = {"sbatch", "--parsable", "--output=" + output()};
    command.insert(command.end(), {"-N2", "--ntasks-per-node=1", "--gpus-per-node=8"});
    command.insert(command.end(), {"--acrf-policy=requeue"});
    command.insert(command.end(), options.begin(), options.end());
    command.push_back("--wrap=srun " + rank);
    const auto submitted = cluster().run(command);
    EXPECT_TRUE(submitted.ok()) << submitted.errors;
    return std::string(trim(submitted.output));
  }

  std::size_t lines_in(const std::string& file) {
    const auto text = text_of(root_ + "/" + file);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  // All ranks of the restart of this number are at work.
  bool began(int restart, std::size_t ranks = 2,
             std::chrono::seconds limit = std::chrono::seconds(60)) {
    return wait_until([&] { return lines_in("began-" + std::to_string(restart)) == ranks; }, limit);
  }

  // The same job with a checkpoint to begin from, and a newer one that is not complete.
  std::string submit_with_checkpoints() {
    for (const int step : {7, 8}) make_checkpoint(step);
    complete_checkpoint(7);
    return submit_ranks({"--acrf-checkpoint-dir=" + checkpoints()});
  }
  std::string checkpoint(int step) const { return checkpoints() + "/step-" + std::to_string(step); }
  void make_checkpoint(int step) {
    std::filesystem::create_directories(checkpoint(step));
    EXPECT_TRUE(write_file(checkpoint(step) + "/weights", std::to_string(step)).ok());
  }
  void complete_checkpoint(int step) { EXPECT_TRUE(seal_checkpoint(checkpoint(step)).ok()); }
  // Where both ranks of that restart began.
  bool began_from(int restart, int step) {
    return text_of(root_ + "/from-" + std::to_string(restart)) ==
           checkpoint(step) + "\n" + checkpoint(step) + "\n";
  }

  // Ranks that `acrf run` starts, in one file for all their runs. The script stops or kills the
  // launcher, and stays, when upset_launcher() has said so.
  std::string submit_launched(const std::vector<std::string>& options) {
    const auto rank = root_ + "/rank", script = root_ + "/script";
    EXPECT_TRUE(write_file(rank,
                           "#!/bin/bash\ncd " + root_ +
                               "\nexec 9>lock-$SLURM_PROCID\n"
                               "flock -n 9 || echo rank $SLURM_PROCID >>twice\n"
                               "echo $SLURM_PROCID $SLURMD_NODENAME $ACRF_FENCE >>began\n"
                               "while [ ! -e finish ]; do sleep 0.1 9>&-; done\n",
                           0755)
                    .ok());
    EXPECT_TRUE(write_file(script,
                           "#!/bin/bash\ncd " + root_ + "\nacrf run -- " + rank +
                               " &\nlauncher=$!\n"
                               "while [ ! -e upset ] && kill -0 $launcher; do sleep 0.1; done\n"
                               "[ ! -e upset ] || [ -n \"$SLURM_RESTART_COUNT\" ] || {\n"
                               "  kill -$(cat upset) $launcher && touch is-upset\n"
                               "  while :; do sleep 0.1; done\n"
                               "}\nwait $launcher\n",
                           0755)
                    .ok());
    std::vector<std::string> command = {"sbatch", "--parsable", "--output=" + output()};
    command.insert(command.end(), {"--gpus-per-node=8", "--acrf-policy=failover"});
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(script);
    const auto submitted = cluster().run(command);
    EXPECT_TRUE(submitted.ok()) << submitted.errors;
    return std::string(trim(submitted.output));
  }
  bool upset_launcher(const std::string& signal) {
    EXPECT_TRUE(write_file(root_ + "/upset.new", signal).ok());
    std::filesystem::rename(root_ + "/upset.new", root_ + "/upset");
    return wait_until([&] { return std::filesystem::exists(root_ + "/is-upset"); });
  }
  // Of those that have begun so far.
  std::string node_of_last_rank() {
    const auto text = text_of(root_ + "/began");
    const auto words = split(trim(text), '\n');
    return std::string(split(words.back(), ' ')[1]);
  }

  // Lets the ranks end; true when the job has, as one that was never disturbed.
  bool completes(const std::string& id) {
    EXPECT_TRUE(write_file(root_ + "/finish", "").ok());
    return wait_until([&] { return job(id).state == "COMPLETED"; }, std::chrono::seconds(60));
  }
  std::string twice() { return text_of(root_ + "/twice"); }

  void admin(std::vector<std::string> words) {
    words.insert(words.begin(), "scontrol");
    const auto done = cluster().run(words);
    EXPECT_TRUE(done.ok()) << done.errors;
  }

  bool node_says(const std::string& name, const std::string& text) {
    return wait_until([&] { return record(name).find(text) != std::string::npos; });
  }

  bool controller_says(const std::string& text) {
    return wait_until([&] {
      return text_of(cluster().path("log/slurmctld.log")).find(text) != std::string::npos;
    });
  }
};

}  // namespace acrf::minicluster
