// SPDX-License-Identifier: GPL-2.0-or-later
#include "big_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace acrf::perf {
namespace {

using minicluster::Cluster;
using minicluster::ClusterOptions;

constexpr int kNodesPerLeaf = 32;
constexpr int kLeavesPerPod = 32;
constexpr unsigned kLoadSeed = 20051;

int groups(int members, int per_group) { return (members + per_group - 1) / per_group; }

std::string tree(int nodes) {
  std::string text;
  const int leaves = groups(nodes, kNodesPerLeaf);
  for (int leaf = 0; leaf < leaves; ++leaf) {
    text += fmt::format("SwitchName=leaf{} Nodes=n[{}-{}]\n", leaf + 1, leaf * kNodesPerLeaf + 1,
                        std::min((leaf + 1) * kNodesPerLeaf, nodes));
  }
  const int pods = groups(leaves, kLeavesPerPod);
  for (int pod = 0; pod < pods; ++pod) {
    text += fmt::format("SwitchName=pod{} Switches=leaf[{}-{}]\n", pod + 1, pod * kLeavesPerPod + 1,
                        std::min((pod + 1) * kLeavesPerPod, leaves));
  }
  return text + fmt::format("SwitchName=core Switches=pod[1-{}]\n", pods);
}

// The one place that knows how acrf.conf asks for each plugin.
std::string acrf_settings(Plugin plugin) {
  return plugin == Plugin::kConsTres ? "Placement=off\n" : "Placement=on\n";
}

// Backfill and periodic passes stay away: a job is decided once, soon after its submission, and
// one pass may take as long as it needs.
constexpr char kScheduling[] =
    "MessageTimeout=100\n"
    "SchedulerParameters=batch_sched_delay=0,bf_interval=10800,default_queue_depth=10000,"
    "max_sched_time=45\n";

// All nodes but first ... first + count - 1: cons_tres looks at all nodes that are not excluded,
// even when a job names its nodes, so this is what makes the load quick to put on.
std::string all_but(int first, int count, int nodes) {
  std::string ranges;
  if (first > 1) ranges = fmt::format("1-{}", first - 1);
  const int next = first + count;
  if (next <= nodes) ranges += fmt::format("{}{}-{}", ranges.empty() ? "" : ",", next, nodes);
  return "n[" + ranges + "]";
}

Status occupy(Cluster& cluster, int first, int count, int gpus_per_node) {
  const auto submitted =
      cluster.run({"sbatch", "--output=/dev/null", fmt::format("--nodes={}", count),
                   fmt::format("--gpus-per-node={}", gpus_per_node),
                   "--exclude=" + all_but(first, count, cluster.options().nodes), "--wrap=true"});
  if (submitted.ok()) return Done{};
  return Error{ErrorCode::kUnavailable, "sbatch: " + submitted.errors};
}

}  // namespace

std::string_view name_of(Plugin plugin) {
  return plugin == Plugin::kConsTres ? "cons_tres" : "acrf";
}

std::string_view name_of(Topology topology) {
  return topology == Topology::kNone ? "none" : "tree";
}

ClusterOptions big_cluster(const std::string& root, int nodes, Plugin plugin, Topology topology) {
  ClusterOptions options;
  options.root = root;
  options.nodes = nodes;
  options.cloud_nodes = true;
  options.slurm_conf = kScheduling;
  options.acrf_conf = acrf_settings(plugin);
  if (topology == Topology::kTree) options.topology = tree(nodes);
  return options;
}

Status fill_half(Cluster& cluster) {
  std::mt19937 random(kLoadSeed);
  const int nodes = cluster.options().nodes;
  for (int node = 1; node <= nodes;) {
    const auto kind = random() % 10;
    const bool partial = kind >= 8;
    const int size = partial ? 1 + static_cast<int>(random() % 8) : 8 << random() % 4;
    const int count = std::min(size, nodes - node + 1);
    const int gpus = partial ? 1 << random() % 3 : cluster.options().gpus_per_node;
    const bool gap = kind < 4;
    if (!gap)
      if (const auto done = occupy(cluster, node, count, gpus); !done) return done;
    node += count;
  }
  return wait_for_all_placed(cluster);
}

Status fill_first_sockets(Cluster& cluster) {
  const auto submitted = cluster.run(
      {"sbatch", "--output=/dev/null", fmt::format("--nodes={}", cluster.options().nodes),
       "--ntasks-per-node=1", "--cpus-per-task=64", "--gpus-per-node=1",
       "--gres-flags=enforce-binding", "--wrap=true"});
  if (!submitted.ok()) return Error{ErrorCode::kUnavailable, "sbatch: " + submitted.errors};
  return wait_for_all_placed(cluster);
}

Status cancel_all(Cluster& cluster) {
  const auto none_left = [&] {
    const auto left = cluster.run({"squeue", "-h", "-o", "%i"});
    return left.ok() && left.output.empty();
  };
  if (cluster.run({"scancel", "--user=root"}).ok() &&
      minicluster::wait_until(none_left, std::chrono::seconds(60)))
    return Done{};
  return Error{ErrorCode::kUnavailable, "jobs are still there 60 s after scancel"};
}

Status wait_for_all_placed(Cluster& cluster) {
  const auto none_pending = [&] {
    const auto pending = cluster.run({"squeue", "-h", "-t", "PENDING", "-o", "%i"});
    return pending.ok() && pending.output.empty();
  };
  if (minicluster::wait_until(none_pending, std::chrono::seconds(120),
                              std::chrono::milliseconds(50)))
    return Done{};
  return Error{ErrorCode::kUnavailable, "jobs are still pending after 120 s"};
}

}  // namespace acrf::perf
