// SPDX-License-Identifier: GPL-2.0-or-later
#include "minicluster/session.h"

#include <fmt/format.h>

namespace acrf::minicluster {

Result<std::unique_ptr<Cluster>> start_session(const ClusterOptions& options, const Say& say) {
  say(fmt::format("Starting a private Slurm cluster: {} nodes with {} fake GPUs each ...",
                  options.nodes, options.gpus_per_node));
  const auto began = std::chrono::steady_clock::now();
  auto cluster = Cluster::start(options);
  if (!cluster) return cluster.error();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  say(fmt::format("Started in {:.1f} s, in {}", took.count(), options.root));
  return cluster;
}

Status keep_session(Cluster& cluster, const std::string& stop_command, const Say& say) {
  if (const auto kept = cluster.keep(); !kept) return kept;
  say(fmt::format(
      "\nThe cluster stays up. To use it:\n  export SLURM_CONF={} PATH={}/usr/bin:$PATH\n"
      "To stop it and remove its folder:\n  {}",
      cluster.slurm_conf(), cluster.options().stage, stop_command));
  return Done{};
}

Status stop_session(const std::string& root, const Say& say) {
  if (const auto cleaned = Cluster::clean(root); !cleaned) return cleaned;
  say("The cluster is stopped and its folder removed.");
  return Done{};
}

}  // namespace acrf::minicluster
