// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-with-cluster: starts a private Slurm cluster, runs a command in its environment and stops
// it. Ends with the command's status, or with kNoCluster when slurmctld did not start or did not
// live to the command's end.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "common/arguments.h"
#include "minicluster/cluster.h"

namespace {

using namespace acrf;
using namespace acrf::minicluster;

constexpr int kNoCluster = 120;

int fail(const std::string& sentence) {
  fmt::print(stderr, "with-cluster: {}\n", sentence);
  return kNoCluster;
}

// With this process's own input and output, unlike Cluster::run(); 128+N for signal N.
int run_here(std::vector<std::string> command, std::vector<std::string> environment) {
  const pid_t child = ::fork();
  if (child < 0) return kNoCluster;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execvpe(command[0].c_str(), pointers_to(command).data(), pointers_to(environment).data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// One that lets this machine act, and inject faults.
void add_hub(ClusterOptions& options) {
  options.hubs = 1;
  options.hub_arguments = {"--test-cluster"};
  options.healthd = true;
  options.acrf_conf = "ReportInterval=1\n";
}

std::string lines(const std::vector<std::string>& list) {
  std::string text;
  for (const auto& line : list) text += line + "\n";
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  ClusterOptions options;
  options.healthd = false;
  bool stock = false, hub = false;
  std::vector<std::string> slurm_conf, gres_conf, topology, command;
  CLI::App app("Runs a command on a private Slurm cluster.", "acrf-with-cluster");
  app.add_option("--root", options.root, "the cluster's own directory")->required();
  app.add_option("--nodes", options.nodes, "nodes (default: 8)")->check(CLI::Range(1, 64));
  app.add_option("--gpus", options.gpus_per_node, "GPUs per node (default: 8)")
      ->check(CLI::Range(1, 16));
  app.add_option("--memory", options.memory_mb, "MB of memory per node (default: 1000)");
  app.add_flag("--stock", stock, "Slurm's own select/cons_tres, without ACRF's in front of it");
  app.add_flag("--hub", hub,
               "acrf-healthd on the nodes and an acrf-hub, whose page is at $ACRF_HUB_URL");
  app.add_option("--slurm-conf", slurm_conf, "a line to add to slurm.conf")
      ->allow_extra_args(false);
  app.add_option("--gres", options.gres, "what each node has besides its GPUs, as in Gres=");
  app.add_option("--gres-conf", gres_conf, "a line to add to gres.conf")->allow_extra_args(false);
  app.add_option("--topology", topology, "a line of topology.conf")->allow_extra_args(false);
  app.add_option("command", command, "the command and its arguments, after --")->required();
  CLI11_PARSE(app, argc, argv);
  if (stock) options.select = SelectInstall::kStock;
  if (hub) add_hub(options);
  options.slurm_conf = lines(slurm_conf);
  options.gres_conf = lines(gres_conf);
  options.topology = lines(topology);
  auto cluster = Cluster::start(options);
  if (!cluster) return fail(cluster.error().sentence);
  auto environment = (*cluster)->environment();
  if (hub) environment.push_back("ACRF_HUB_URL=" + (*cluster)->hub_url() + "/");
  const int status = run_here(command, environment);
  const auto ping = (*cluster)->run({"scontrol", "ping"});
  return ping.output.find("is UP") == std::string::npos ? fail("slurmctld is gone") : status;
}
