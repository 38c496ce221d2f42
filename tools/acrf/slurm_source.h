// SPDX-License-Identifier: GPL-2.0-or-later
// The cluster as slurmctld sees it, with what acrf-healthd has written into the nodes' records, and
// of this host what it has on disk.
#pragma once

#include "cluster_source.h"
#include "common/slurm_client.h"
#include "common/slurm_watch.h"
#include "core/config.h"

namespace acrf {

class SlurmSource : public ClusterSource {
 public:
  // `config_path`: the file that was named; empty: none was. `note`: why no hub is asked.
  SlurmSource(Config config, std::string config_path, std::string note)
      : config_(std::move(config)), config_path_(std::move(config_path)), note_(std::move(note)) {}

  Result<StatusFacts> status() override;
  Result<std::vector<NodeShown>> nodes() override;
  Result<NodeDetails> node(const std::string& name) override;
  Result<std::vector<GpuView>> gpus() override;
  Result<GpuView> gpu(const std::string& uuid) override;
  Result<std::vector<JobShown>> jobs() override;

 private:
  // Asks slurmctld for what has changed.
  Status look();
  Status look_at_brakes();
  const WatchedNode* find(const std::string& name) const;
  std::vector<GpuView> gpus_of(const WatchedNode& node) const;
  NodeShown shown(const WatchedNode& node) const;
  void read_local(NodeDetails& details) const;
  void read_local_gpus(NodeDetails& details) const;
  NodeVerdict ask_healthd(const std::string& node) const;

  const Config config_;
  const std::string config_path_;
  const std::string note_;
  SlurmClient slurm_;
  SlurmWatch watch_;
  SlurmWatch::Nodes nodes_;
  std::vector<std::string> brakes_full_;
  std::map<std::string, std::string> leaf_of_;
  std::vector<WatchedJob> jobs_;
  std::map<std::string, std::vector<const WatchedJob*>> jobs_of_;  // node -> those that run there
};

// "ACRF OK - HEALTHY: no findings", as acrf-healthd --check-once prints it; unknown when it is not
// such a line.
NodeVerdict parse_check_line(std::string_view line);

}  // namespace acrf
