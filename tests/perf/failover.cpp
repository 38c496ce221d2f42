// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-failover: seconds from a fault to the first task of the step that acrf run starts in the
// same allocation, on a live cluster; the measurement behind `contrib/bench failover`. The verdict
// falls some hundredths of a second after the fault, so that the figures are a little too long.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "core/text.h"
#include "minicluster/cluster.h"
#include "minicluster/fault_run.h"
#include "quantile.h"

namespace acrf::perf {
namespace {

using namespace acrf::minicluster;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kPatience{60};
constexpr int kNodes = 6, kSpares = 4;

constexpr char kJob[] = R"(#!/bin/bash
acrf run -- bash -c 'echo "$SLURMD_NODENAME" >>"$RUN/began-$ACRF_FAILOVER_COUNT"; sleep 1000'
)";

std::vector<std::string> began(const std::string& directory, int failover) {
  const auto text = read_file(fmt::format("{}/began-{}", directory, failover));
  std::vector<std::string> nodes;
  if (!text) return nodes;
  for (const auto line : split(trim(*text), '\n')) nodes.emplace_back(line);
  return nodes;
}

// One job, which loses a node as often as it has spares.
Status lose_all_spares(Cluster& cluster, int number, std::vector<double>& times) {
  const auto directory = cluster.path(fmt::format("run-{}", number));
  std::filesystem::create_directories(directory);
  if (const auto written = write_file(directory + "/job", kJob, 0755); !written) return written;
  const auto submitted =
      cluster.run({"env", "RUN=" + directory, "sbatch", "--parsable", fmt::format("-N{}", kNodes),
                   "--gpus-per-node=8", "--output=" + directory + "/out", "--acrf-policy=failover",
                   fmt::format("--acrf-spares={}", kSpares), directory + "/job"});
  if (!submitted.ok()) return Error{ErrorCode::kUnavailable, "sbatch: " + submitted.errors};
  std::vector<std::string> lost;
  Status outcome = Done{};
  for (int failover = 0; failover < kSpares && outcome; ++failover) {
    constexpr std::size_t kRunning = kNodes - kSpares;
    if (!wait_until([&] { return began(directory, failover).size() == kRunning; }, kPatience)) {
      outcome = Error{ErrorCode::kUnavailable, "the step did not start: " + directory};
      break;
    }
    lost.push_back(began(directory, failover).back());
    const auto fault = Clock::now();
    cluster.run({"acrf", "inject", "--node", lost.back(), "--xid", "79"});
    if (wait_until([&] { return !began(directory, failover + 1).empty(); }, kPatience,
                   milliseconds(2)))
      times.push_back(std::chrono::duration<double>(Clock::now() - fault).count());
    else
      outcome = Error{ErrorCode::kUnavailable, "the step was not started again: " + directory};
  }
  cluster.run({"scancel", std::string(trim(submitted.output))});
  for (const auto& node : lost)
    if (const auto restored = restore_node(cluster, node); outcome && !restored) outcome = restored;
  return outcome;
}

int run(const std::string& root, int failovers) {
  ClusterOptions options;
  options.root = root;
  auto cluster = Cluster::start(options);
  Status outcome = Done{};
  if (!cluster) outcome = cluster.error();
  std::vector<double> times;
  for (int number = 0; outcome && static_cast<int>(times.size()) < failovers; ++number)
    outcome = lose_all_spares(**cluster, number, times);
  if (!outcome) {
    fmt::print(stderr, "acrf-failover: {}\n", outcome.error().sentence);
    return EXIT_FAILURE;
  }
  const double p50 = quantile(times, 0.5), p99 = quantile(times, 0.99), most = quantile(times, 1);
  fmt::print("{:>4} {:>8} {:>8} {:>8}\n{:4} {:8.2f} {:8.2f} {:8.2f}\n", "n", "p50_s", "p99_s",
             "max_s", times.size(), p50, p99, most);
  const nlohmann::json row = {{"n", times.size()}, {"p50_s", p50}, {"p99_s", p99}, {"max_s", most}};
  fmt::print("{}\n", nlohmann::json::array({row}).dump());
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace acrf::perf

int main(int argc, char** argv) {
  std::string root;
  int failovers = 100;
  CLI::App app("Measures failover inside an allocation on a private Slurm cluster.",
               "acrf-failover");
  app.add_option("--root", root, "the cluster's own directory")->required();
  app.add_option("--failovers", failovers, "how many (default: 100)")->check(CLI::Range(1, 10000));
  CLI11_PARSE(app, argc, argv);
  return acrf::perf::run(root, failovers);
}
