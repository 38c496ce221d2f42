// SPDX-License-Identifier: GPL-2.0-or-later
// What the live tests of placement share: clusters with and without switches, jobs of GPUs, and the
// looks that users and admins take at them.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {

using Nodes = std::vector<std::string>;

class Place : public LiveCluster {
 protected:
  // Eight nodes: four leaves of two, two pods.
  ClusterOptions clos() const {
    auto options = small();
    options.nodes = 8;
    options.healthd = false;
    options.topology =
        "SwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n[3-4]\nSwitchName=l3 Nodes=n[5-6]\n"
        "SwitchName=l4 Nodes=n[7-8]\nSwitchName=p1 Switches=l[1-2]\nSwitchName=p2 Switches=l[3-4]\n"
        "SwitchName=core Switches=p[1-2]\n";
    return options;
  }
  ClusterOptions flat(int nodes) const {
    auto options = small();
    options.nodes = nodes;
    options.healthd = false;
    return options;
  }

  std::string submit(std::vector<std::string> options) {
    options.insert(options.begin(), {"sbatch", "--parsable", "--output=/dev/null"});
    options.push_back("--wrap=sleep 1000");
    const auto submitted = cluster().run(options);
    EXPECT_TRUE(submitted.ok()) << submitted.errors;
    return std::string(trim(submitted.output));
  }
  bool runs(const std::string& id) {
    return !HasFailure() && wait_until([&] { return job(id).state == "RUNNING"; });
  }
  Nodes placed(std::vector<std::string> options) {
    const auto id = last_ = submit(std::move(options));
    EXPECT_TRUE(runs(id)) << cluster().run({"scontrol", "show", "job", id}).output;
    return job(id).nodes;
  }
  void admin(std::vector<std::string> words) {
    words.insert(words.begin(), "scontrol");
    const auto done = cluster().run(words);
    EXPECT_TRUE(done.ok()) << done.errors;
  }
  void set_health(const std::string& node, const std::string& token) {
    admin({"update", "NodeName=" + node, "Comment=" + token});
  }
  void cancel(const std::string& id) {
    ASSERT_TRUE(cluster().run({"scancel", id}).ok());
    // One whose script was just about to start may miss the SIGTERM, and ends with KillWait.
    ASSERT_TRUE(wait_until(
        [&] {
          return cluster().run({"squeue", "-h", "-j", id, "-t", "R,CG", "-o", "%i"}).output.empty();
        },
        std::chrono::seconds(60)));
  }
  // "GRES=gpu:h100:2(IDX:4-5)" for each node of the job.
  std::string gres(const std::string& id) {
    std::string text;
    const auto shown = cluster().run({"scontrol", "-d", "show", "job", id}).output;
    for (const auto line : split(shown, '\n'))
      if (starts_with(trim(line), "Nodes=")) text += std::string(trim(line)) + "\n";
    return text;
  }
  std::string gres_used(const std::string& node) {
    const auto shown = cluster().run({"scontrol", "-d", "show", "node", node}).output;
    const auto at = shown.find("GresUsed=");
    return at == std::string::npos ? "" : shown.substr(at, shown.find('\n', at) - at);
  }
  // The last line that the log of decisions has about the job, once it is written.
  std::string decision(const std::string& id, const std::string& mode = "run_now") {
    std::string last;
    EXPECT_TRUE(wait_until([&] {
      const auto log = text_of(cluster().path("state/acrf-decisions"));
      for (const auto line : split(log, '\n'))
        if (line.find(fmt::format("\"job\":{},\"mode\":\"{}\"", id, mode)) !=
            std::string_view::npos)
          last = line;
      return !last.empty();
    })) << "no decision about job "
        << id;
    return last;
  }
  void restart_slurmctld() {
    ASSERT_TRUE(cluster().restart_slurmctld().ok());
    ASSERT_TRUE(wait_until([&] {
      return cluster().run({"sinfo", "-h", "-t", "idle,mix,alloc", "-o", "%D"}).output != "" &&
             cluster().run({"sinfo", "-h", "-N", "-t", "unk,down,no_respond"}).output.empty();
    }));
  }

  std::string last_;
};

}  // namespace acrf::minicluster
