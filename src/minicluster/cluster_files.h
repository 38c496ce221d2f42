// SPDX-License-Identifier: GPL-2.0-or-later
// The files of a private cluster: slurm.conf and its companions, fake GPU devices and their state.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace acrf::minicluster {

// How select/acrf is put in front of cons_tres, if at all.
enum class SelectInstall { kStock, kDropIn, kNamed };

// Where `make install DESTDIR=` put this build.
std::string built_stage();

struct ClusterOptions {
  std::string root;  // the cluster's own directory; emptied at start when it was a cluster before
  std::string stage = built_stage();
  int nodes = 8;
  int gpus_per_node = 8;
  bool gpu_islands = false;          // gres.conf joins the even GPUs by NVLink, and the odd ones
  bool gpu_line_per_socket = false;  // in gres.conf; else one for each GPU
  // Nodes without slurmd that only slurmctld knows: their jobs are placed and hold their GPUs, but
  // never start. Any number of them costs no process.
  bool cloud_nodes = false;
  std::string cloud_address = "255.255.255.255";
  int memory_mb = 1000;   // per node
  bool networks = false;  // each node has a network of its own and can be cut off
  SelectInstall select = SelectInstall::kDropIn;
  bool named_stays = false;  // in PluginDir, last, for the records of jobs that ran under it
  bool enforce = true;       // healthd's Mode
  bool healthd = true;
  // So many acrf-hubs, each with a history of its own, to which every acrf-healthd reports. With
  // networks they listen at the first controller's address and have a certificate.
  int hubs = 0;
  int first_hub_port = 0;                  // of the first one; 0: any that is free
  std::vector<std::string> hub_arguments;  // more words for acrf-hub
  // A second slurmctld, slurmctld-backup, that takes over a few seconds after the first fell
  // silent.
  bool backup = false;
  int controller_timeout_s = 3;  // that few seconds, with a backup
  // For sanitized plugins: slurmctld alone takes its plugins from this stage, and it and healthd
  // load the sanitizers' runtimes first. (slurmstepd could not fork with them.)
  std::string controller_stage;
  std::string sanitizer_runtimes;
  std::string controller_preload;  // a library for slurmctld alone
  std::string healthd_program;     // in place of the staged acrf-healthd
  std::string healthd_preload;     // a library for acrf-healthd alone
  std::string topology;            // text of topology.conf; empty: none
  std::string gres;                // what nodes have besides GPUs, as in Gres=
  std::string gres_conf;           // lines to add to gres.conf
  std::string slurm_conf;          // lines to add to slurm.conf
  std::string acrf_conf;           // lines to add to acrf.conf
};

// Node names are n1 ... nN.
std::vector<std::string> node_names(const ClusterOptions& options);

// How many ports the cluster needs, one after the other: slurmctld's, then one per node that has a
// slurmd, then one per such node's acrf-healthd, then one per acrf-hub.
int port_count(const ClusterOptions& options);

// Among port_count() ports, the one of a hub; hubs count from 1.
int hub_port(const ClusterOptions& options, const std::vector<int>& ports, int hub);
std::string hub_address(const ClusterOptions& options);
std::string hub_url(const ClusterOptions& options, const std::vector<int>& ports, int hub);

// Writes everything below options.root, with port_count() `ports`.
Status write_cluster_files(const ClusterOptions& options, const std::vector<int>& ports);

// slurm.conf alone, and slurmctld's own when it has one.
Status write_slurm_conf(const ClusterOptions& options, const std::vector<int>& ports);

// A controller host of a cluster with a backup: its name, its address and the files that it alone
// sees.
struct ControllerHost {
  std::string name;
  std::string address;
  std::string run_directory;  // in place of the cluster's run/
  std::string log_file;
};
ControllerHost controller_host(const ClusterOptions& options, bool backup);

std::string staged(const ClusterOptions& options, const std::string& path);

}  // namespace acrf::minicluster
