// SPDX-License-Identifier: GPL-2.0-or-later
// The files of a private cluster: slurm.conf and its companions, fake GPU devices and their state.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace acrf::minicluster {

// How select/acrf is put in front of cons_tres, if at all.
enum class SelectInstall { kStock, kDropIn, kNamed };

struct ClusterOptions {
  std::string root;  // the cluster's own directory; emptied at start when it was a cluster before
  std::string stage = ACRF_STAGE;  // where `make install DESTDIR=` put ACRF
  int nodes = 8;
  int gpus_per_node = 8;
  SelectInstall select = SelectInstall::kDropIn;
  bool enforce = true;  // healthd's Mode
  bool healthd = true;
  // For sanitized plugins: slurmctld alone takes its plugins from this stage, and it and healthd
  // load the sanitizers' runtimes first. (slurmstepd could not fork with them.)
  std::string controller_stage;
  std::string sanitizer_runtimes;
  std::string healthd_program;  // in place of the staged acrf-healthd
  std::string healthd_preload;  // a library for acrf-healthd alone
  std::string topology;         // text of topology.conf; empty: none
  std::string slurm_conf;       // lines to add to slurm.conf
  std::string acrf_conf;        // lines to add to acrf.conf
};

// Node names are n1 ... nN.
std::vector<std::string> node_names(const ClusterOptions& options);

// Ports on loopback that nobody listens on right now.
Result<std::vector<int>> free_ports(int count);

// Writes everything below options.root. `ports`: slurmctld's, then one per node.
Status write_cluster_files(const ClusterOptions& options, const std::vector<int>& ports);

std::string staged(const ClusterOptions& options, const std::string& path);

}  // namespace acrf::minicluster
