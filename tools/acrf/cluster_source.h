// SPDX-License-Identifier: GPL-2.0-or-later
// Where the commands that look at the cluster get their answers: a hub, or slurmctld and what
// acrf-healthd has written down on this host.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster_status.h"
#include "cluster_view.h"
#include "commands.h"
#include "hub_client.h"

namespace acrf {

struct SourceOptions {
  std::string hub;         // a URL, or "none"; empty: Hub of acrf.conf
  std::string token_file;  // empty: $ACRF_HUB_TOKEN
};

// --hub and --token-file; the second alone.
void add_source_options(CLI::App* command, SourceOptions& options);
void add_token_option(CLI::App* command, SourceOptions& options);

// Empty: there is none.
Result<std::string> hub_token(const SourceOptions& options);

class ClusterSource {
 public:
  virtual ~ClusterSource() = default;

  virtual Result<StatusFacts> status() = 0;
  // All nodes, by slurm.conf or by where they hang.
  virtual Result<std::vector<NodeShown>> nodes() = 0;
  // kNotFound: there is none of that name.
  virtual Result<NodeDetails> node(const std::string& name) = 0;
  virtual Result<std::vector<GpuView>> gpus() = 0;
  // kNotFound: nobody within reach knows it.
  virtual Result<GpuView> gpu(const std::string& uuid) = 0;
  // Those that wait or run.
  virtual Result<std::vector<JobShown>> jobs() = 0;
};

// A hub of acrf.conf that does not answer is no reason to know nothing: slurmctld is asked then.
// One that was named on the command line has to answer.
Result<std::unique_ptr<ClusterSource>> open_source(const CommandLine& line,
                                                   const SourceOptions& options);

// The hub that knows what all nodes have written down. Nothing: there is none, or that of acrf.conf
// does not answer, which is said.
Result<std::optional<HubClient>> find_hub(const CommandLine& line, const SourceOptions& options);

// Prints "acrf: sentence"; the command ends with Nagios' UNKNOWN.
void fail_check(CommandLine& line, const Error& error);

void print_json(const nlohmann::ordered_json& json);

}  // namespace acrf
