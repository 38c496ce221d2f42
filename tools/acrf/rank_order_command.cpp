// SPDX-License-Identifier: GPL-2.0-or-later
// acrf rank-order: a job's nodes in the order of ranks that makes a ring cheapest, one line a rank,
// as srun --distribution=arbitrary wants it in SLURM_HOSTFILE.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common/config_file.h"
#include "common/topology_file.h"
#include "core/hostlist.h"

namespace acrf {
namespace {

struct RankOrder {
  std::string nodes;
  std::string directory;
  int tasks_per_node = 1;
};

void print_order(CommandLine& line, RankOrder order) {
  const char* own = std::getenv("SLURM_JOB_NODELIST");
  if (order.nodes.empty() && own) order.nodes = own;
  if (order.nodes.empty())
    return fail(line, {ErrorCode::kInvalid, "--nodes is needed outside of a job"});
  if (order.directory.empty()) order.directory = slurm_directory();
  const auto nodes = expand_hostlist(order.nodes);
  if (!nodes) return fail(line, {ErrorCode::kInvalid, "--nodes=" + nodes.error().sentence});
  const auto ordered = order_for_ring(order.directory, *nodes);
  if (!ordered) return fail(line, ordered.error());
  if (line.json) return fmt::print("{}\n", nlohmann::json(*ordered).dump());
  for (const auto& node : *ordered)
    for (int task = 0; task < order.tasks_per_node; ++task) fmt::print("{}\n", node);
}

}  // namespace

void add_rank_order_command(CommandLine& line) {
  auto* command =
      line.app.add_subcommand("rank-order", "a job's nodes in the best order for a ring of ranks");
  const auto order = std::make_shared<RankOrder>();
  command->add_option("--nodes", order->nodes, "host list (default: the job that this runs in)");
  command->add_option("--tasks-per-node", order->tasks_per_node, "lines to print for each node")
      ->check(CLI::Range(1, 4096));
  command->add_option("--topology-dir", order->directory,
                      "where topology.conf is (default: beside slurm.conf)");
  command->callback([&line, order] { print_order(line, *order); });
}

}  // namespace acrf
