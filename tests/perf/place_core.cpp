// SPDX-License-Identifier: GPL-2.0-or-later
// The placement engine alone: how long one decision takes, by cluster size, load and kind of job.
// Each decision is timed by itself, so that there is a 99th percentile, and includes the copy of
// the candidates, as in the plugin. It is taken three times: the median is the decision's, the
// single times are also the machine's, whose interruptions a loop of arithmetic shows in the last
// row.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/placement.h"
#include "core/tree_knapsack.h"
#include "perf/quantile.h"
#include "unit/random.h"

namespace acrf {
namespace {

using nlohmann::json;
using perf::quantile;

constexpr int kLeaf = 32, kLeavesPerPod = 32;

Topology clos(int nodes) {
  std::string text, pods;
  std::vector<std::string> names;
  for (int i = 0; i < nodes; ++i) names.push_back("n" + std::to_string(i));
  const int leaves = (nodes + kLeaf - 1) / kLeaf;
  for (int leaf = 0; leaf < leaves; ++leaf)
    text += "SwitchName=l" + std::to_string(leaf) + " Nodes=n[" + std::to_string(leaf * kLeaf) +
            "-" + std::to_string(std::min(nodes, (leaf + 1) * kLeaf) - 1) + "]\n";
  const int pod_count = (leaves + kLeavesPerPod - 1) / kLeavesPerPod;
  for (int pod = 0; pod < pod_count; ++pod)
    text += "SwitchName=p" + std::to_string(pod) + " Switches=l[" +
            std::to_string(pod * kLeavesPerPod) + "-" +
            std::to_string(std::min(leaves, (pod + 1) * kLeavesPerPod) - 1) + "]\n";
  text += "SwitchName=core Switches=p[0-" + std::to_string(pod_count - 1) + "]\n";
  return *Topology::parse(text, "bench", names);
}

// Busy nodes come in runs, as jobs leave them; a tenth of the free ones is partly used.
struct Fleet {
  Fleet(int nodes, int busy_percent)
      : topology(clos(nodes)), inventory(nodes), all(nodes), placement(topology, inventory) {
    Random random(42);
    int run = 0;
    bool busy = false;
    for (int node = 0; node < nodes; ++node, --run) {
      if (run <= 0) {
        run = 1 + random.below(24);
        busy = random.below(100) < busy_percent;
      }
      NodeState state;
      state.gpus = 0xff;
      state.free = busy ? 0 : 0xff;
      if (!busy && busy_percent > 0 && random.below(10) == 0)
        state.free = static_cast<GpuMask>(random.below(255));
      state.cpus = 128;
      state.free_cpus = state.free == 0xff ? 128 : 64;
      state.memory_mb = state.free_memory_mb = 2'000'000;
      inventory.set(node, state);
      all.set(node);
    }
  }
  Topology topology;
  Inventory inventory;
  NodeSet all;
  Placement placement;
};

PlaceRequest whole(int nodes) {
  PlaceRequest request;
  request.min_nodes = request.max_nodes = nodes;
  request.gpus_per_node = 8;
  return request;
}

PlaceRequest up_to_a_pod(Random& random) { return whole(1 + random.below(1 << random.below(8))); }

PlaceRequest several_pods(Random& random) { return whole(512 + random.below(1536)); }

PlaceRequest mixed(Random& random) {
  PlaceRequest request;
  if (random.below(2) == 0) {
    request.max_nodes = 1 << 20;
    request.total_gpus = 1 + random.below(random.below(4) == 0 ? 64 : 8);
  } else {
    request.min_nodes = request.max_nodes = 1 + random.below(8);
    request.gpus_per_node = 1 + random.below(7);
  }
  request.total_cpus = request.min_nodes;
  return request;
}

struct Row {
  const char* request;
  PlaceRequest (*make)(Random&);
  int nodes, busy;
};

std::vector<json>& rows() {
  static std::vector<json> all;
  return all;
}

double microseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

class Times {
 public:
  void take(const std::function<void()>& work) {
    std::array<double, 3> of_one;
    for (auto& time : of_one) once_.push_back(time = microseconds(work));
    std::sort(of_one.begin(), of_one.end());
    medians_.push_back(of_one[1]);
  }
  json row(const char* request) {
    return {{"request", request},
            {"us_p50", quantile(medians_, 0.5)},
            {"us_p99", quantile(medians_, 0.99)},
            {"us_p99_once", quantile(once_, 0.99)},
            {"us_max", quantile(once_, 1)},
            {"n", medians_.size()}};
  }

 private:
  std::vector<double> medians_, once_;
};

void run(benchmark::State& state, const Row& row) {
  const auto before = mallinfo2().uordblks + mallinfo2().hblkhd;
  Fleet fleet(row.nodes, row.busy);
  const auto bytes = mallinfo2().uordblks + mallinfo2().hblkhd - before;
  Random random(7);
  Times times;
  int placed = 0, uncertified = 0;
  NodeSet candidates;
  Plan plan;
  for (auto _ : state) {
    const auto request = row.make(random);
    bool found = false;
    times.take([&] {
      candidates = fleet.all;
      found = fleet.placement.place(request, candidates, nullptr, nullptr, plan);
    });
    placed += found;
    uncertified += found && !plan.certified;
  }
  auto result = times.row(row.request);
  result.update({{"gpus", row.nodes * 8},
                 {"busy_percent", row.busy},
                 {"placed", placed},
                 {"uncertified", uncertified},
                 {"bytes_per_node", bytes / static_cast<std::size_t>(row.nodes)}});
  rows().push_back(result);
}

// Some microseconds of arithmetic, always the same: what its times differ by is the machine's.
void run_loop(benchmark::State& state) {
  Times times;
  for (auto _ : state)
    times.take([] {
      unsigned number = 1;
      for (int i = 0; i < 5000; ++i)
        benchmark::DoNotOptimize(number = number * 1664525u + 1013904223u);
    });
  auto result = times.row("only a loop");
  result.update({{"gpus", 0}, {"busy_percent", 0}, {"uncertified", 0}, {"bytes_per_node", 0}});
  rows().push_back(result);
}

// Quiet: the table below says it all.
class NoReport : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

}  // namespace
}  // namespace acrf

int main(int argc, char** argv) {
  using acrf::Row;
  for (const int nodes : {12'500, 125'000})
    for (const int busy : {0, 50, 90})
      for (const auto& [name, make] : {std::pair{"1-128 nodes", &acrf::up_to_a_pod},
                                       std::pair{"512-2047 nodes", &acrf::several_pods},
                                       std::pair{"parts of nodes", &acrf::mixed}}) {
        const Row row{name, make, nodes, busy};
        benchmark::RegisterBenchmark(name, [row](benchmark::State& state) {
          acrf::run(state, row);
        })->Iterations(20'000);
      }
  benchmark::RegisterBenchmark("loop", &acrf::run_loop)->Iterations(20'000);
  benchmark::Initialize(&argc, argv);
  acrf::NoReport report;
  benchmark::RunSpecifiedBenchmarks(&report);
  std::printf("%-15s %10s %6s %9s %9s %11s %9s %12s %12s\n", "request", "GPUs", "busy", "p50 us",
              "p99 us", "p99 us once", "max us", "uncertified", "bytes/node");
  for (const auto& row : acrf::rows())
    std::printf("%-15s %10d %5d%% %9.2f %9.2f %11.2f %9.2f %12d %12d\n",
                row["request"].get<std::string>().c_str(), row["gpus"].get<int>(),
                row["busy_percent"].get<int>(), row["us_p50"].get<double>(),
                row["us_p99"].get<double>(), row["us_p99_once"].get<double>(),
                row["us_max"].get<double>(), row["uncertified"].get<int>(),
                row["bytes_per_node"].get<int>());
  std::printf("%s\n", nlohmann::json(acrf::rows()).dump().c_str());
}
