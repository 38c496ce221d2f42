// SPDX-License-Identifier: GPL-2.0-or-later
// A private, real Slurm cluster on this machine: its own munged, slurmctld, slurmd per node and
// acrf-healthd per node, on ports and in a directory of its own. Needs root. Several can run at
// once. Ends with its owner, however that ends.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "minicluster/cluster_files.h"
#include "minicluster/command.h"
#include "minicluster/ports.h"
#include "minicluster/process_space.h"

namespace acrf::minicluster {

class Cluster {
 public:
  // Returns when every node is idle.
  static Result<std::unique_ptr<Cluster>> start(ClusterOptions options);
  // Stops everything at once unless keep() was called. The directory stays, with the logs.
  ~Cluster();

  // Stops a cluster that an earlier process left behind in `root` and removes the directory.
  // Fails when a living process owns it.
  static Status clean(const std::string& root);

  // The caller's environment with SLURM_CONF and ACRF's staged commands in PATH.
  std::vector<std::string> environment() const;
  // Runs a command in that environment.
  CommandResult run(const std::vector<std::string>& command,
                    std::chrono::milliseconds limit = std::chrono::seconds(60)) const;

  Status start_slurmctld();
  Status start_backup();
  Status start_slurmd(const std::string& node);
  Status start_healthd(const std::string& node);
  // What it has logged since it was started last: the log is one for all its lives.
  std::string healthd_life(const std::string& node) const;
  // Hubs count from 1. Returns when it listens.
  Status start_hub(int hub = 1);
  std::string hub_url(int hub = 1) const;
  // Daemon names: munged, slurmctld, slurmctld-backup, slurmd-NODE, healthd-NODE, hub-N.
  Status signal(const std::string& daemon, int signal);
  bool wait_for_end(const std::string& daemon);
  // Ends slurmctld in good order and starts it again.
  Status restart_slurmctld();
  // What an admin does to put select/acrf in or take it out: slurm.conf changes, slurmctld restarts
  // (and every slurmd, when SelectType changes), jobs go on.
  Status change_select(SelectInstall select);
  // Exit status once it has ended (128+N for signal N); nothing while it runs.
  Result<std::optional<int>> ended(const std::string& daemon) { return space_->ended(daemon); }
  // SIGKILL, and waits until it is gone.
  Status kill(const std::string& daemon);
  Status keep();
  // With options().networks: pulls the node's cable, and puts it back.
  Status cut_off(const std::string& node);
  Status join(const std::string& node);
  // Words that make a command run inside the cluster's own namespaces of these kinds, as nsenter's
  // options name them: --net, --mount.
  std::vector<std::string> inside(const std::vector<std::string>& kinds) const;
  // The first process of its space, as this process sees it.
  int init_pid() const { return init_pid_; }

  const ClusterOptions& options() const { return options_; }
  std::string path(const std::string& below) const { return options_.root + "/" + below; }
  std::string slurm_conf() const { return path("etc/slurm.conf"); }
  std::vector<std::string> nodes() const { return node_names(options_); }

 private:
  Cluster(ClusterOptions options, UniqueFd lock)
      : options_(std::move(options)), lock_(std::move(lock)) {}
  Status launch();
  Status start_munged();
  Status start_controller(bool backup);
  Status wait_for_nodes();
  Status make_networks();
  Status switch_cable(const std::string& node, const char* state);
  Status wait_for_power_saving();
  // Until the daemon accepts connections; at once when it has ended instead.
  Status wait_for_start(const std::string& daemon, const std::function<bool()>& accepts);

  ClusterOptions options_;
  UniqueFd lock_;  // on the directory, for as long as this object lives
  Ports ports_;
  std::unique_ptr<ProcessSpace> space_;
  int init_pid_ = -1;
  std::map<std::string, std::size_t> lives_;  // by node: how long healthd's log was at its start
  bool kept_ = false;
};

// Asks every few milliseconds until `condition` holds or the time is up.
bool wait_until(const std::function<bool()>& condition,
                std::chrono::milliseconds limit = std::chrono::seconds(30),
                std::chrono::milliseconds pause = std::chrono::milliseconds(20));

}  // namespace acrf::minicluster
