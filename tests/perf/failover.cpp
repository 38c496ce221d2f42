// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-failover: seconds from a fault to the first task of the step that acrf run starts in the
// same allocation, on a live cluster; the measurement behind `contrib/bench failover`. The verdict
// falls some hundredths of a second after the fault, so that the figures are a little too long. A
// step that does not begin from the newest complete checkpoint, or not on the nodes that are left,
// is wrong.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "brakes_off.h"
#include "common/checkpoint_seal.h"
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
acrf run -- bash -c '
echo "$SLURMD_NODENAME $ACRF_RESUME_FROM" >>"$RUN/began-$ACRF_FAILOVER_COUNT"; sleep 1000'
)";

struct Outcome {
  std::vector<double> times;
  int wrong = 0;
};

// One job, which loses a node as often as it has spares.
class Job {
 public:
  Job(Cluster& cluster, int number)
      : cluster_(cluster), directory_(cluster.path(fmt::format("run-{}", number))) {}

  Status submit() {
    const auto checkpoints = directory_ + "/checkpoints";
    for (const std::string step : {"step-7", "step-8"}) {
      std::filesystem::create_directories(checkpoints + "/" + step);
      if (auto written = write_file(checkpoints + "/" + step + "/weights", step); !written)
        return written;
    }
    if (auto sealed = seal_checkpoint(checkpoints + "/step-7"); !sealed) return sealed;
    if (auto written = write_file(directory_ + "/job", kJob, 0755); !written) return written;
    const auto submitted = cluster_.run(
        {"env", "RUN=" + directory_, "sbatch", "--parsable", fmt::format("-N{}", kNodes),
         "--gpus-per-node=8", "--output=" + directory_ + "/out", "--acrf-policy=failover",
         fmt::format("--acrf-spares={}", kSpares), "--acrf-checkpoint-dir=" + checkpoints,
         directory_ + "/job"});
    if (!submitted.ok()) return Error{ErrorCode::kUnavailable, "sbatch: " + submitted.errors};
    id_ = trim(submitted.output);
    return began(0) ? Status(Done{}) : missed("the step did not start");
  }

  // Breaks a node of the step of this number.
  Status lose_node(int failover, Outcome& outcome) {
    const auto before = nodes_of(failover);
    lost_.push_back(before.back());
    const auto fault = Clock::now();
    cluster_.run({"acrf", "inject", "--node", lost_.back(), "--xid", "79"});
    if (!wait_until([&] { return !lines_of(failover + 1).empty(); }, kPatience, milliseconds(2)))
      return missed("the step was not started again");
    outcome.times.push_back(std::chrono::duration<double>(Clock::now() - fault).count());
    if (!began(failover + 1)) return missed("not all tasks of the step began");
    outcome.wrong += !is_right(before, failover + 1);
    return Done{};
  }

  // Ends the job and mends its nodes.
  Status end() {
    cluster_.run({"scancel", id_});
    for (const auto& node : lost_)
      if (const auto restored = restore_node(cluster_, node); !restored) return restored;
    return Done{};
  }

 private:
  Status missed(const std::string& what) const {
    return Error{ErrorCode::kUnavailable, what + ": " + directory_};
  }

  std::vector<std::string> lines_of(int failover) const {
    const auto text = read_file(fmt::format("{}/began-{}", directory_, failover));
    std::vector<std::string> lines;
    if (!text) return lines;
    for (const auto line : split(trim(*text), '\n')) lines.emplace_back(line);
    return lines;
  }

  std::vector<std::string> nodes_of(int failover) const {
    auto nodes = lines_of(failover);
    for (auto& node : nodes) node.resize(std::min(node.size(), node.find(' ')));
    return nodes;
  }

  bool began(int failover) const {
    constexpr std::size_t kRunning = kNodes - kSpares;
    return wait_until([&] { return lines_of(failover).size() == kRunning; }, kPatience);
  }

  bool is_right(std::vector<std::string> before, int failover) const {
    before.pop_back();
    const auto after = nodes_of(failover);
    for (const auto& node : before)
      if (std::find(after.begin(), after.end(), node) == after.end()) return false;
    for (const auto& line : lines_of(failover))
      if (line.find(" " + directory_ + "/checkpoints/step-7") == std::string::npos) return false;
    return true;
  }

  Cluster& cluster_;
  std::string directory_, id_;
  std::vector<std::string> lost_;
};

Status lose_all_spares(Cluster& cluster, int number, Outcome& outcome) {
  Job job(cluster, number);
  auto status = job.submit();
  for (int failover = 0; failover < kSpares && status; ++failover)
    status = job.lose_node(failover, outcome);
  const auto ended = job.end();
  return status ? ended : status;
}

int run(const std::string& root, int failovers) {
  ClusterOptions options;
  options.root = root;
  options.acrf_conf = kBrakesOff;
  auto cluster = Cluster::start(options);
  Status status = Done{};
  if (!cluster) status = cluster.error();
  Outcome outcome;
  const auto& times = outcome.times;
  for (int number = 0; status && static_cast<int>(times.size()) < failovers; ++number)
    status = lose_all_spares(**cluster, number, outcome);
  if (!status) {
    fmt::print(stderr, "acrf-failover: {}\n", status.error().sentence);
    return EXIT_FAILURE;
  }
  const double p50 = quantile(times, 0.5), p99 = quantile(times, 0.99), most = quantile(times, 1);
  fmt::print("{:>4} {:>8} {:>8} {:>8} {:>6}\n{:4} {:8.2f} {:8.2f} {:8.2f} {:6}\n", "n", "p50_s",
             "p99_s", "max_s", "wrong", times.size(), p50, p99, most, outcome.wrong);
  const nlohmann::json row = {{"n", times.size()},
                              {"p50_s", p50},
                              {"p99_s", p99},
                              {"max_s", most},
                              {"wrong", outcome.wrong}};
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
