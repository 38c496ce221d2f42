// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-demo: the demonstration behind contrib/demo, and the measurement behind `contrib/bench
// demo`.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "minicluster/fault_run.h"
#include "minicluster/session.h"

namespace {

using namespace acrf;
using namespace acrf::minicluster;

struct Options {
  std::string root;
  int nodes = 8;
  int gpus = 8;
  int runs = 1;
  std::vector<std::string> slurm_conf;
  bool keep = false;
  bool stop = false;
  bool json = false;
};

int fail(const Error& error) {
  fmt::print(stderr, "demo: {}\n", error.sentence);
  return EXIT_FAILURE;
}

void show(const std::string& text) {
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void narrate(double seconds, const std::string& text) {
  show(fmt::format("  {:6.2f} s  {}", seconds, text));
}

nlohmann::json row_of(int run, const FaultRun& times) {
  return {{"run", run},
          {"drained_s", times.drained_s},
          {"pending_s", times.pending_s},
          {"running_s", times.running_s},
          {"resumed_s", times.resumed_s}};
}

void show_drained(const Cluster& cluster) {
  show("\n$ sinfo -R\n" + cluster.run({"sinfo", "-R", "-o", "%80E %N"}).output);
}

// The measurement: the same walk several times, the node mended in between.
int measure(Cluster& cluster, const Options& options) {
  show(fmt::format("{:>4} {:>11} {:>11} {:>11} {:>11}", "run", "drained_s", "pending_s",
                   "running_s", "resumed_s"));
  auto rows = nlohmann::json::array();
  for (int run = 1; run <= options.runs; ++run) {
    const auto times = run_fault(cluster, fmt::format("run{}", run), [](double, const auto&) {});
    if (!times) return fail(times.error());
    show(fmt::format("{:4} {:11.2f} {:11.2f} {:11.2f} {:11.2f}", run, times->drained_s,
                     times->pending_s, times->running_s, times->resumed_s));
    rows.push_back(row_of(run, *times));
    if (const auto restored = restore_node(cluster, times->node); !restored)
      return fail(restored.error());
  }
  if (options.json) show(rows.dump());
  return EXIT_SUCCESS;
}

int demonstrate(Cluster& cluster) {
  show("\nA GPU falls off the bus under a training job:");
  const auto times = run_fault(cluster, "demo", narrate);
  if (!times) return fail(times.error());
  show_drained(cluster);
  show(fmt::format("Fault to running again: {:.2f} s; to training again: {:.2f} s.",
                   times->running_s, times->resumed_s));
  return EXIT_SUCCESS;
}

int run(const Options& options) {
  if (options.stop) {
    const auto stopped = stop_session(options.root, show);
    return stopped ? EXIT_SUCCESS : fail(stopped.error());
  }
  ClusterOptions cluster_options;
  cluster_options.root = options.root;
  cluster_options.nodes = options.nodes;
  cluster_options.gpus_per_node = options.gpus;
  for (const auto& line : options.slurm_conf) cluster_options.slurm_conf += line + "\n";
  auto cluster = start_session(cluster_options, show);
  if (!cluster) return fail(cluster.error());
  const int status =
      options.runs > 1 || options.json ? measure(**cluster, options) : demonstrate(**cluster);
  if (!options.keep) return status;
  if (const auto kept = keep_session(**cluster, "contrib/demo --stop", show); !kept)
    return fail(kept.error());
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Shows a training job surviving a lost GPU on a private Slurm cluster.",
               "acrf-demo");
  app.add_option("--root", options.root, "the cluster's own directory")->required();
  app.add_option("--nodes", options.nodes, "nodes (default: 8)")->check(CLI::Range(4, 64));
  app.add_option("--gpus", options.gpus, "GPUs per node (default: 8)")->check(CLI::Range(8, 16));
  app.add_option("--slurm-conf", options.slurm_conf, "a line to add to slurm.conf");
  app.add_option("--runs", options.runs, "measure this many runs")->check(CLI::Range(1, 1000));
  app.add_flag("--json", options.json, "measure, and print the rows as JSON in the last line");
  app.add_flag("--keep", options.keep, "leave the cluster up");
  app.add_flag("--stop", options.stop, "stop the cluster that --keep left up");
  CLI11_PARSE(app, argc, argv);
  return run(options);
}
