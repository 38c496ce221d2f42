// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-place-quality: how good placements are on a real Clos under a real mix of jobs, for plain
// cons_tres, cons_tres with topology/tree and ACRF; the measurement behind `contrib/bench
// place-quality`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "controller.h"
#include "fabric.h"
#include "job_mix.h"
#include "minicluster/cluster.h"
#include "minicluster/command.h"
#include "quality.h"
#include "replay.h"

namespace {

using namespace acrf;
using namespace acrf::perf;
using minicluster::Cluster;
using minicluster::ClusterOptions;
using minicluster::SelectInstall;

constexpr auto kArmLimit = std::chrono::minutes(30);

struct Arm {
  std::string_view name;
  SelectInstall select;
  bool tree;
};

// ACRF with topology/tree, as a site that has switches would have it.
constexpr Arm kArms[] = {
    {"cons_tres", SelectInstall::kStock, false},
    {"cons_tres+tree", SelectInstall::kStock, true},
    {"acrf+tree", SelectInstall::kDropIn, true},
};

struct SizeClass {
  std::string_view name;
  int least, most;
};
constexpr SizeClass kSizeClasses[] = {
    {"1", 1, 1}, {"2-7", 2, 7}, {"8", 8, 8}, {"9-63", 9, 63}, {"64+", 64, 1 << 30}};

struct Options {
  std::string root;
  std::string traces;
  std::string preload = ACRF_REPLAY_PRELOAD;
  std::string arm;  // empty: all, each in a process of its own
  int seeds = 3;    // one after the other, from load.seed on
  bool json = false;
  LoadPlan load;
};

// What is replayed, and where it is from.
struct Scene {
  Fabric fabric;
  std::vector<Job> jobs;
  std::string origin;
  std::string complaint;  // why there is no data set
};

void show(const std::string& text) {
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

Scene make_scene(const Options& options, LoadPlan& plan) {
  Scene scene;
  auto fabric = read_fabric(options.traces + "/lingjun2023/topo.csv");
  auto pool = read_pool(options.traces);
  for (const auto* problem : {fabric ? nullptr : &fabric.error(), pool ? nullptr : &pool.error()})
    if (problem) scene.complaint += "no data set: " + problem->sentence + "\n";
  scene.fabric = fabric ? std::move(*fabric) : synthetic_fabric();
  const JobPool jobs = pool ? std::move(*pool) : synthetic_pool(plan.seed);
  plan.cluster_gpus = scene.fabric.node_count() * kGpusPerNode;
  scene.jobs = draw_jobs(jobs, plan);
  scene.origin = scene.fabric.origin + "; " + jobs.origin;
  return scene;
}

ClusterOptions cluster_options(const Options& options, const Arm& arm, const Fabric& fabric) {
  ClusterOptions cluster;
  cluster.root = options.root;
  cluster.nodes = fabric.node_count();
  cluster.gpus_per_node = kGpusPerNode;
  cluster.cloud_nodes = true;
  cluster.gpu_islands = true;
  cluster.select = arm.select;
  cluster.controller_preload = options.preload;
  cluster.slurm_conf = kReplayScheduling;
  if (arm.tree) cluster.topology = topology_conf(fabric);
  return cluster;
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto at = static_cast<std::size_t>(q * static_cast<double>(values.size()));
  return values[std::min(at, values.size() - 1)];
}

using Metrics = std::vector<std::pair<std::string, double>>;

void add_waits(const ReplayResult& result, Metrics& metrics) {
  for (const auto& size : kSizeClasses) {
    std::vector<double> waits;
    for (const auto& wait : result.waits)
      if (wait.gpus >= size.least && wait.gpus <= size.most) waits.push_back(wait.seconds);
    metrics.emplace_back(fmt::format("jobs, {} GPUs, steady phase", size.name), waits.size());
    for (const auto& [name, q] : {std::pair{"p50", .5}, {"p95", .95}, {"p99", .99}})
      metrics.emplace_back(fmt::format("wait_s {}, {} GPUs", name, size.name), quantile(waits, q));
  }
  metrics.emplace_back("jobs of the steady phase that never started", result.never_started);
}

Metrics metrics_of(const ReplayResult& result) {
  Placements placed = result.by_main;
  placed.add(result.by_backfill);
  const double multi_node = std::max(1, placed.ring.count);
  Metrics metrics = {
      {"jobs started", result.started},
      {"multi-node jobs", placed.ring.count},
      {"ring cost, mean", placed.ring.mean()},
      {"ring cost, sum", placed.ring.got},
      {"ring cost / least possible", placed.ring.ratio()},
      {"all-to-all cost, mean", placed.all_to_all.mean()},
      {"all-to-all cost, sum", placed.all_to_all.got},
      {"leaves / fewest possible", placed.leaves.ratio()},
      {"crossing pods, share", placed.crossing_pods / multi_node},
      {"crossing pods avoidably, share", placed.avoidably / multi_node},
      {"by the main scheduler: multi-node jobs", result.by_main.ring.count},
      {"by the main scheduler: ring / least", result.by_main.ring.ratio()},
      {"by the main scheduler: leaves / fewest", result.by_main.leaves.ratio()},
      {"by the main scheduler: crossing avoidably", result.by_main.avoidably},
      {"by the main scheduler: links / best", result.by_main.links.ratio()},
      {"by backfill: ring / least", result.by_backfill.ring.ratio()},
      {"by backfill: crossing avoidably", result.by_backfill.avoidably},
      {"by backfill: links / best", result.by_backfill.links.ratio()},
      {"jobs with 2-7 GPUs on a node", placed.links.count},
      {"link weight / best possible", placed.links.ratio()},
      {"fragmentation, steady", result.steady.fragmentation()},
      {"fragmentation, saturated", result.saturated.fragmentation()},
      {"utilisation, steady", result.steady.utilisation()},
      {"utilisation, saturated", result.saturated.utilisation()},
  };
  add_waits(result, metrics);
  return metrics;
}

Result<Metrics> run_arm(const Options& options, const Arm& arm) {
  LoadPlan plan = options.load;
  const auto scene = make_scene(options, plan);
  const auto settings = cluster_options(options, arm, scene.fabric);
  const auto names = minicluster::node_names(settings);
  const auto topology = Topology::parse(topology_conf(scene.fabric), "topology.conf", names);
  if (!topology) return topology.error();
  auto page = ReplayPage::create(options.root + ".page");
  if (!page) return page.error();
  const auto cluster = Cluster::start(settings);
  if (!cluster) return cluster.error();
  Controller controller((*cluster)->slurm_conf(), *page);
  QualityBooks books(*topology, island_gpus());
  Replay replay(controller, *page, books, scene.jobs, plan);
  const auto began = std::chrono::steady_clock::now();
  auto result = replay.run();
  if (!result) return result.error();
  auto metrics = metrics_of(*result);
  metrics.emplace_back("scheduling passes", result->ticks);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  metrics.emplace_back("real seconds", took.count());
  return metrics;
}

nlohmann::json rows_of(const Options& options, const Arm& arm, const Metrics& metrics) {
  auto rows = nlohmann::json::array();
  for (const auto& [name, value] : metrics)
    rows.push_back(
        {{"arm", arm.name}, {"seed", options.load.seed}, {"metric", name}, {"value", value}});
  return rows;
}

int run_one(const Options& options) {
  for (const auto& arm : kArms) {
    if (arm.name != options.arm) continue;
    const auto metrics = run_arm(options, arm);
    if (metrics) {
      show(rows_of(options, arm, *metrics).dump());
      return EXIT_SUCCESS;
    }
    fmt::print(stderr, "place-quality: {}: {}\n", arm.name, metrics.error().sentence);
    return EXIT_FAILURE;
  }
  fmt::print(stderr, "place-quality: {}: no such arm\n", options.arm);
  return EXIT_FAILURE;
}

// libslurm keeps the configuration of the first cluster it sees: each arm has its own process.
nlohmann::json run_elsewhere(const Options& options, const Arm& arm) {
  const auto& load = options.load;
  const auto result = minicluster::run_command(
      {"/proc/self/exe", "--root", options.root, "--traces", options.traces, "--preload",
       options.preload, "--arm", std::string(arm.name), "--load", std::to_string(load.steady_load),
       "--steady", std::to_string(load.saturated_from_s), "--end", std::to_string(load.end_s),
       "--seed", std::to_string(load.seed)},
      minicluster::environment_with({}), kArmLimit);
  if (!result.ok()) {
    fmt::print(stderr, "{}", result.errors);
    return nullptr;
  }
  return nlohmann::json::parse(result.output, nullptr, false);
}

// The rows of one arm, by seed.
using ArmRows = std::vector<nlohmann::json>;

double value_of(const nlohmann::json& rows, std::size_t metric) { return rows[metric]["value"]; }

double mean(const ArmRows& arm, std::size_t metric) {
  double sum = 0;
  for (const auto& rows : arm) sum += value_of(rows, metric);
  return sum / static_cast<double>(arm.size());
}

void show_table(const std::vector<ArmRows>& arms) {
  std::string head = fmt::format("{:<44}", "mean of the seeds");
  for (const auto& arm : kArms) head += fmt::format(" {:>14}", arm.name);
  show(head);
  for (std::size_t i = 0; i < arms[0][0].size(); ++i) {
    std::string line = fmt::format("{:<44}", arms[0][0][i]["metric"].get<std::string>());
    for (const auto& arm : arms) {
      const double value = mean(arm, i);
      const bool whole = value == std::floor(value) && value >= 2;
      line += whole ? fmt::format(" {:>14.0f}", value) : fmt::format(" {:>14.4f}", value);
    }
    show(line);
  }
}

// Which jobs happen to fit decides more about utilisation than who places them: so the same jobs
// are compared, and the spread of the differences says what their mean is worth.
void show_utilisation(const std::vector<ArmRows>& arms) {
  std::size_t metric = 0;
  while (arms[0][0][metric]["metric"] != "utilisation, saturated") ++metric;
  const auto& last = arms.back();
  const auto seeds = static_cast<double>(last.size());
  for (std::size_t other = 0; other + 1 < arms.size(); ++other) {
    double sum = 0, squares = 0;
    for (std::size_t seed = 0; seed < last.size(); ++seed) {
      const double difference =
          100 * (value_of(last[seed], metric) - value_of(arms[other][seed], metric));
      sum += difference;
      squares += difference * difference;
    }
    const double average = sum / seeds;
    const double error =
        seeds > 1 ? std::sqrt((squares / seeds - average * average) / (seeds - 1)) : 0;
    show(fmt::format("utilisation, saturated: {} less {}: {:+.2f} points, standard error {:.2f}",
                     kArms[arms.size() - 1].name, kArms[other].name, average, error));
  }
}

int run_all(const Options& options) {
  LoadPlan plan = options.load;
  const auto scene = make_scene(options, plan);
  if (!scene.complaint.empty()) fmt::print("{}", scene.complaint);
  show(scene.origin);
  show(fmt::format(
      "{} nodes with {} GPUs each on {} leaves in {} pods; seeds {} to {}; load {} for "
      "{} s, then {} until {} s",
      scene.fabric.node_count(), kGpusPerNode, scene.fabric.leaf_count(), scene.fabric.pods.size(),
      plan.seed, plan.seed + static_cast<std::uint64_t>(options.seeds) - 1, plan.steady_load,
      plan.saturated_from_s, plan.saturating_load, plan.end_s));
  std::vector<ArmRows> arms(std::size(kArms));
  auto all = nlohmann::json::array();
  for (Options of_seed = options; of_seed.seeds > 0; --of_seed.seeds, ++of_seed.load.seed) {
    for (std::size_t arm = 0; arm < arms.size(); ++arm) {
      fmt::print(stderr, "seed {}: {}\n", of_seed.load.seed, kArms[arm].name);
      arms[arm].push_back(run_elsewhere(of_seed, kArms[arm]));
      const auto& rows = arms[arm].back();
      if (!rows.is_array()) return EXIT_FAILURE;
      all.insert(all.end(), rows.begin(), rows.end());
    }
  }
  show_table(arms);
  show_utilisation(arms);
  if (options.json) show(all.dump());
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Measures placements on a live slurmctld.", "acrf-place-quality");
  app.add_option("--root", options.root, "the cluster's own directory")->required();
  app.add_option("--traces", options.traces, "where lingjun2023, philly and acme are");
  app.add_option("--preload", options.preload, "replay_preload.so");
  app.add_option("--arm", options.arm, "this one alone, as JSON");
  app.add_option("--load", options.load.steady_load, "of the steady phase (default: 0.85)");
  app.add_option("--steady", options.load.saturated_from_s, "seconds of the steady phase");
  // slurmctld's power saving looks at its nodes, which are not there, every 65,535 s.
  app.add_option("--end", options.load.end_s, "seconds in all")->check(CLI::Range(1, 65000));
  app.add_option("--seed", options.load.seed, "of the jobs, the first one (default: 1)");
  app.add_option("--seeds", options.seeds, "so many of them (default: 3)")
      ->check(CLI::Range(1, 100));
  app.add_flag("--json", options.json, "print the rows as JSON in the last line");
  CLI11_PARSE(app, argc, argv);
  return options.arm.empty() ? run_all(options) : run_one(options);
}
