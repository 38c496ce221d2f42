// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-chaos: disturbs a private cluster by the plan of a seed and prints what was done, what
// became of the jobs and what was violated; behind `contrib/bench chaos`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "chaos_driver.h"

namespace acrf::minicluster {
namespace {

int fail(const std::string& sentence, std::uint64_t seed) {
  fmt::print(stderr, "acrf-chaos: {} (seed {})\n", sentence, seed);
  return EXIT_FAILURE;
}

int run(const std::string& root, int minutes, std::uint64_t seed) {
  ClusterOptions options;
  options.root = root;
  ChaosDriver::prepare(options);
  auto cluster = Cluster::start(options);
  if (!cluster) return fail(cluster.error().sentence, seed);
  ChaosDriver chaos(**cluster, seed, 60 * minutes);
  const auto ran = chaos.run();
  if (!ran || !chaos.wrongs().empty())
    for (const auto& line : chaos.timeline()) fmt::print("{}\n", line);
  if (!ran) return fail(ran.error().sentence, seed);
  fmt::print("chaos, {} minutes, seed {}, {} nodes\n", minutes, seed, options.nodes);
  auto rows = nlohmann::json::array();
  for (const auto& [what, count] : chaos.counts()) {
    fmt::print("{:<30} {:5}\n", what, count);
    rows.push_back({{"what", what}, {"count", count}});
  }
  for (const auto& wrong : chaos.wrongs()) fmt::print("VIOLATION: {}\n", wrong);
  fmt::print("{}\n", rows.dump());
  if (chaos.wrongs().empty()) return EXIT_SUCCESS;
  return fail("violations", seed);
}

}  // namespace
}  // namespace acrf::minicluster

int main(int argc, char** argv) {
  std::string root;
  int minutes = 1;
  std::uint64_t seed = 1;
  CLI::App app("Disturbs a private Slurm cluster and judges what becomes of its jobs.",
               "acrf-chaos");
  app.add_option("--root", root, "the cluster's own directory")->required();
  app.add_option("--minutes", minutes, "how long (default: 1)")->check(CLI::Range(1, 1440));
  app.add_option("--seed", seed, "which plan (default: 1)");
  CLI11_PARSE(app, argc, argv);
  return acrf::minicluster::run(root, minutes, seed);
}
