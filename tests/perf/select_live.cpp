// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-select-live: how long select_p_job_test takes in a live slurmctld, with and without ACRF's
// placement; the measurement behind `contrib/bench select-live`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "big_cluster.h"
#include "core/text.h"
#include "decision_log.h"

namespace {

using namespace acrf;
using namespace acrf::perf;
using acrf::minicluster::Cluster;

constexpr int kGpusPerNode = 8;
constexpr int kSizes[] = {8, 64, 1024, 16384};  // GPUs
constexpr std::string_view kModes[] = {"run_now", "test_only", "will_run"};
constexpr int kRefusals = 30;
constexpr auto kBetweenPasses = std::chrono::milliseconds(400);
constexpr int kRefusedNodes[] = {8, 128, 2048};
constexpr int kRefusedGpusPerNode = 7;  // of which only the second socket's four can be had

struct Options {
  std::string root;
  int nodes = 12500;
  int runs = 7;
  std::vector<std::string> topologies = {"none", "tree"};
  std::vector<std::string> loads = {"empty", "half", "refusing"};
  bool json = false;
};

// A way to ask for GPUs: sbatch's options for so many.
struct RequestKind {
  std::string_view name;
  std::vector<std::string> (*options)(int gpus);
};

const RequestKind kRequestKinds[] = {
    {"gpus", [](int gpus) { return std::vector<std::string>{fmt::format("--gpus={}", gpus)}; }},
    {"nodes",
     [](int gpus) {
       return std::vector<std::string>{fmt::format("--nodes={}", gpus / kGpusPerNode),
                                       fmt::format("--gpus-per-node={}", kGpusPerNode)};
     }},
};

struct Row {
  Plugin plugin;
  Topology topology;
  std::string_view load;
  std::string_view request;
  int gpus;
  std::string_view mode;
  double ms_p50;
  double ms_max;
  double ms_mean;
  double own_ms_p50;
  double added_percent;  // to cons_tres' look at all nodes, where that was needed
  std::size_t n;
  std::map<std::string, int> outcomes;  // how often each
};

void show(const std::string& text) {
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// One request, submitted again and again to a cluster that is in the same state each time.
class Measurement {
 public:
  Measurement(Cluster& cluster, DecisionLog& log, std::vector<std::string> request)
      : cluster_(cluster), log_(log), request_(std::move(request)) {}

  // Jobs that start, `batch` of them in one pass of the scheduler, and are cancelled.
  Status start_jobs(int runs, int batch) {
    while (static_cast<int>(jobs_.size()) < runs) {
      std::vector<std::string> cancel = {"scancel"};
      for (int i = 0; i < batch && static_cast<int>(jobs_.size()) < runs; ++i) {
        const auto submitted = sbatch("--parsable");
        if (!submitted) return submitted.error();
        cancel.push_back(*submitted);
        jobs_[parse_unsigned(*submitted).value_or(0)];
      }
      if (const auto placed = wait_for_all_placed(cluster_); !placed) return placed;
      if (!cluster_.run(cancel).ok()) return failed("scancel");
    }
    return Done{};
  }

  Status test_jobs(int runs) {
    for (int i = 0; i < runs; ++i)
      if (const auto tested = sbatch("--test-only"); !tested) return tested.error();
    tests_ = static_cast<std::size_t>(runs);
    return Done{};
  }

  // One job that finds no room, in so many passes of the scheduler: the first when it comes, the
  // others when jobs come that are held.
  Status refuse_job(int runs) {
    const auto submitted = sbatch("--parsable");
    if (!submitted) return submitted.error();
    const auto job = parse_unsigned(*submitted).value_or(0);
    const auto decided = [&] {
      for (auto& decision : log_.read_new())
        if (decision.job == job && decision.mode == "run_now") refused_.push_back(decision);
      return static_cast<int>(refused_.size()) >= runs;
    };
    for (int i = 0; !minicluster::wait_until(decided, kBetweenPasses); ++i) {
      if (i > 10 * runs) return failed("no passes of the scheduler for");
      if (const auto held = sbatch("--hold"); !held) return held.error();
    }
    for (const auto& decision : refused_)
      if (decision.ok) return failed("room was found for");
    return Done{};
  }
  const std::vector<Decision>& refused() const { return refused_; }

  // Waits for the log, which may lag behind.
  Status read_log() {
    const auto complete = [&] {
      for (auto& decision : log_.read_new()) take(std::move(decision));
      const auto decided = [](const auto& job) {
        return job.second.count("run_now") && job.second.count("test_only");
      };
      return will_run_.size() >= tests_ && std::all_of(jobs_.begin(), jobs_.end(), decided);
    };
    if (minicluster::wait_until(complete, std::chrono::seconds(20))) return Done{};
    return failed("the log of decisions lacks some of the jobs of");
  }

  std::vector<Decision> decisions(std::string_view mode) const {
    if (mode == "will_run") return will_run_;
    std::vector<Decision> all;
    for (const auto& [id, by_mode] : jobs_) all.push_back(by_mode.at(std::string(mode)));
    return all;
  }

 private:
  Error failed(const std::string& what) const {
    return {ErrorCode::kUnavailable, fmt::format("{} {}", what, fmt::join(request_, " "))};
  }

  Result<std::string> sbatch(const std::string& option) {
    std::vector<std::string> command = {"sbatch", option, "--output=/dev/null", "--wrap=true"};
    command.insert(command.end(), request_.begin(), request_.end());
    const auto submitted = cluster_.run(command);
    if (!submitted.ok()) return failed("sbatch: " + submitted.errors);
    return std::string(trim(submitted.output));
  }

  // A job that could not start at once is tried again: the try that found room counts. Its
  // submission's test is the first of its kind.
  void take(Decision decision) {
    if (decision.mode == "will_run") return will_run_.push_back(std::move(decision));
    const auto job = jobs_.find(decision.job);
    if (job == jobs_.end()) return;
    if (decision.mode == "run_now" && !decision.ok) return;
    job->second.emplace(decision.mode, std::move(decision));
  }

  Cluster& cluster_;
  DecisionLog& log_;
  std::vector<std::string> request_;
  std::map<std::uint64_t, std::map<std::string, Decision>> jobs_;
  std::vector<Decision> will_run_, refused_;
  std::size_t tests_ = 0;
};

// What is the same for all rows of one cluster under one load.
struct Scene {
  Plugin plugin;
  Topology topology;
  std::string_view load;
};

// cons_tres' own time, or all of ACRF's with how much of that is not cons_tres.
Row row_of(const Scene& scene, std::string_view request, int gpus, std::string_view mode,
           const std::vector<Decision>& decisions) {
  std::vector<double> times;
  std::vector<double> own;
  std::map<std::string, int> outcomes;
  double all = 0, without_acrf = 0;
  for (const auto& decision : decisions) {
    all += decision.total_ms;
    without_acrf += decision.delegate_ms - decision.refused_ms;
    times.push_back(scene.plugin == Plugin::kAcrf ? decision.total_ms : decision.delegate_ms);
    own.push_back(decision.total_ms - decision.delegate_ms);
    ++outcomes[decision.outcome];
  }
  return {scene.plugin,
          scene.topology,
          scene.load,
          request,
          gpus,
          mode,
          median(times),
          *std::max_element(times.begin(), times.end()),
          std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size()),
          median(own),
          100 * (all / without_acrf - 1),
          times.size(),
          std::move(outcomes)};
}

// As many jobs at once as leave the load nearly what it was.
int batch_size(const Options& options, int gpus) {
  return std::max(1, options.nodes * kGpusPerNode / 8 / gpus);
}

Status measure_scene(Cluster& cluster, DecisionLog& log, const Options& options, const Scene& scene,
                     std::vector<Row>& rows) {
  for (const auto& kind : kRequestKinds) {
    for (const int gpus : kSizes) {
      if (gpus > options.nodes * kGpusPerNode / 4) continue;
      Measurement measurement(cluster, log, kind.options(gpus));
      if (const auto done = measurement.start_jobs(options.runs, batch_size(options, gpus)); !done)
        return done;
      if (const auto done = measurement.test_jobs(options.runs); !done) return done;
      if (const auto done = measurement.read_log(); !done) return done;
      for (const auto mode : kModes)
        rows.push_back(row_of(scene, kind.name, gpus, mode, measurement.decisions(mode)));
    }
  }
  return Done{};
}

// Plans that cons_tres refuses: its own time is lost time, and must be little.
Status measure_refusals(Cluster& cluster, DecisionLog& log, const Options& options,
                        const Scene& scene, std::vector<Row>& rows) {
  for (const int nodes : kRefusedNodes) {
    if (nodes > options.nodes / 4) continue;
    if (const auto cleared = cancel_all(cluster); !cleared) return cleared;
    if (const auto filled = fill_first_sockets(cluster); !filled) return filled;
    Measurement measurement(
        cluster, log,
        {fmt::format("--nodes={}", nodes), fmt::format("--gpus-per-node={}", kRefusedGpusPerNode),
         "--gres-flags=enforce-binding"});
    if (const auto done = measurement.refuse_job(kRefusals); !done) return done;
    rows.push_back(
        row_of(scene, "nodes", nodes * kRefusedGpusPerNode, "run_now", measurement.refused()));
  }
  return Done{};
}

bool wanted(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Status measure_cluster(const Options& options, Plugin plugin, Topology topology,
                       std::vector<Row>& rows) {
  auto started = Cluster::start(big_cluster(options.root, options.nodes, plugin, topology));
  if (!started) return started.error();
  Cluster& cluster = **started;
  DecisionLog log(cluster.path("state/acrf-decisions"));
  if (wanted(options.loads, "empty")) {
    const Scene empty{plugin, topology, "empty"};
    if (const auto done = measure_scene(cluster, log, options, empty, rows); !done) return done;
  }
  if (wanted(options.loads, "half")) {
    if (const auto filled = fill_half(cluster); !filled) return filled;
    const Scene half{plugin, topology, "half"};
    if (const auto done = measure_scene(cluster, log, options, half, rows); !done) return done;
  }
  if (!wanted(options.loads, "refusing")) return Done{};
  return measure_refusals(cluster, log, options, {plugin, topology, "refusing"}, rows);
}

nlohmann::json json_of(const Row& row) {
  nlohmann::json object = {{"plugin", name_of(row.plugin)},
                           {"topology", name_of(row.topology)},
                           {"load", row.load},
                           {"request", row.request},
                           {"gpus", row.gpus},
                           {"mode", row.mode},
                           {"ms_p50", row.ms_p50},
                           {"ms_max", row.ms_max},
                           {"ms_mean", row.ms_mean},
                           {"n", row.n}};
  if (row.plugin == Plugin::kAcrf) {
    object["own_ms_p50"] = row.own_ms_p50;
    if (row.load == "refusing") object["added_percent"] = row.added_percent;
    object["outcomes"] = row.outcomes;
  }
  return object;
}

// `stock` and `acrf` hold the same measurements in the same order.
void show_table(const std::vector<Row>& stock, const std::vector<Row>& acrf) {
  for (std::size_t i = 0; i < stock.size(); ++i) {
    const Row& row = stock[i];
    // A job that is refused again and again costs what all its tries cost.
    const auto time = row.load == "refusing" ? &Row::ms_mean : &Row::ms_p50;
    show(fmt::format("{:<8} {:<8} {:<7} {:>6} {:<9} {:>12.2f} {:>9.2f} {:>7.2f} {:>9.2f}",
                     name_of(row.topology), row.load, row.request, row.gpus, row.mode, row.*time,
                     acrf[i].*time, row.*time / acrf[i].*time, acrf[i].own_ms_p50) +
         (row.load == "refusing" ? fmt::format(" {:>8.1f}%", acrf[i].added_percent) : ""));
  }
}

int run(const Options& options) {
  show(fmt::format("{} nodes with {} GPUs each; median of {} (refusing: mean of {}), in ms",
                   options.nodes, kGpusPerNode, options.runs, kRefusals));
  show(fmt::format("{:<8} {:<8} {:<7} {:>6} {:<9} {:>12} {:>9} {:>7} {:>9} {:>9}", "topology",
                   "load", "request", "gpus", "mode", "cons_tres_ms", "acrf_ms", "ratio", "own_ms",
                   "added"));
  auto json = nlohmann::json::array();
  for (const auto topology : {Topology::kNone, Topology::kTree}) {
    if (!wanted(options.topologies, name_of(topology))) continue;
    std::map<Plugin, std::vector<Row>> rows;
    for (const auto plugin : {Plugin::kConsTres, Plugin::kAcrf}) {
      const auto measured = measure_cluster(options, plugin, topology, rows[plugin]);
      if (!measured) {
        fmt::print(stderr, "select-live: {}\n", measured.error().sentence);
        return EXIT_FAILURE;
      }
      for (const auto& row : rows[plugin]) json.push_back(json_of(row));
    }
    show_table(rows[Plugin::kConsTres], rows[Plugin::kAcrf]);
  }
  if (options.json) show(json.dump());
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Measures select_p_job_test in a live slurmctld.", "acrf-select-live");
  app.add_option("--root", options.root, "the cluster's own directory")->required();
  app.add_option("--nodes", options.nodes, "nodes (default: 12500)")->check(CLI::Range(64, 60000));
  app.add_option("--runs", options.runs, "jobs per row (default: 7)")->check(CLI::Range(1, 100));
  app.add_option("--topologies", options.topologies, "some of none,tree")
      ->delimiter(',')
      ->check(CLI::IsMember({"none", "tree"}));
  app.add_option("--loads", options.loads, "some of empty,half,refusing")
      ->delimiter(',')
      ->check(CLI::IsMember({"empty", "half", "refusing"}));
  app.add_flag("--json", options.json, "print the rows as JSON in the last line");
  CLI11_PARSE(app, argc, argv);
  return run(options);
}
