// SPDX-License-Identifier: GPL-2.0-or-later
// Replacing lost nodes of a ring of 512, alone: how long it takes and how far from the best it can
// be, in a cluster of 12,672 nodes, by how many are lost, how they lie and how many are free.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/reallocate.h"
#include "unit/random.h"

namespace acrf {
namespace {

using nlohmann::json;

constexpr int kPods = 12, kLeaves = 33, kNodes = 32, kJob = 512, kCases = 200;

Topology clos() {
  std::string text;
  std::vector<std::string> names;
  const auto range = [](int first, int count) {
    return "[" + std::to_string(first) + "-" + std::to_string(first + count - 1) + "]\n";
  };
  for (int leaf = 0; leaf < kPods * kLeaves; ++leaf)
    text += "SwitchName=l" + std::to_string(leaf) + " Nodes=n" + range(leaf * kNodes, kNodes);
  for (int pod = 0; pod < kPods; ++pod)
    text += "SwitchName=p" + std::to_string(pod) + " Switches=l" + range(pod * kLeaves, kLeaves);
  text += "SwitchName=core Switches=p" + range(0, kPods);
  for (int i = 0; i < kPods * kLeaves * kNodes; ++i) names.push_back("n" + std::to_string(i));
  return *Topology::parse(text, "bench", names);
}

struct Row {
  int free_percent, lost, run;  // `run`: lost ranks next to each other
};

// The job has two nodes of three in a stretch of the cluster.
Loss make_loss(const Topology& topology, const Row& row, Random& random) {
  const int size = topology.node_count();
  Loss loss{Traffic::kRing, {}, NodeSet(size), NodeSet(size), NodeSet(size), true};
  int position = random.below(size - 2 * kJob);
  for (; static_cast<int>(loss.positions.size()) < kJob; ++position)
    if (random.below(3) != 0 || position + kJob >= size) loss.positions.push_back(position);
  for (int lost = 0; lost < row.lost; lost += row.run) {
    const int first = random.below(kJob - row.run);
    for (int rank = first; rank < first + row.run; ++rank)
      loss.lost.set(loss.positions[static_cast<std::size_t>(rank)]);
  }
  for (int node = 0; node < size; ++node) loss.free.put(node, random.below(100) < row.free_percent);
  return loss;
}

json measure(const Topology& topology, const Row& row) {
  Random random(7);
  std::vector<double> times;
  int proven = 0;
  double before = 0, cost = 0, bound = 0, new_ranks = 0;
  while (static_cast<int>(times.size()) < kCases) {
    auto loss = make_loss(topology, row, random);
    const auto start = std::chrono::steady_clock::now();
    const auto found = reallocate(topology, loss);
    const auto end = std::chrono::steady_clock::now();
    loss.keep_ranks = false;
    const auto anew = reallocate(topology, loss);
    if (!found || !anew) continue;
    times.push_back(std::chrono::duration<double, std::micro>(end - start).count());
    proven += found->exact();
    before += static_cast<double>(found->cost_before);
    cost += static_cast<double>(found->cost);
    bound += static_cast<double>(found->lower_bound);
    new_ranks += static_cast<double>(anew->cost);
  }
  std::sort(times.begin(), times.end());
  return {{"free_percent", row.free_percent},
          {"lost", row.lost},
          {"run", row.run},
          {"us_p50", times[kCases / 2]},
          {"us_p99", times[kCases * 99 / 100]},
          {"us_max", times.back()},
          {"n", kCases},
          {"proven_percent", 100.0 * proven / kCases},
          {"gap_percent", 100 * (cost - bound) / cost},
          {"increase_percent", 100 * (cost - before) / before},
          {"increase_new_ranks_percent", 100 * (new_ranks - before) / before}};
}

}  // namespace
}  // namespace acrf

int main() {
  const auto topology = acrf::clos();
  auto rows = nlohmann::json::array();
  std::printf("%6s %5s %5s %10s %10s %10s %8s %8s %10s %10s\n", "free", "lost", "run", "p50 us",
              "p99 us", "max us", "proven", "gap", "increase", "new ranks");
  for (const int free_percent : {30, 5, 2})
    for (const auto& [lost, run] : {std::pair{1, 1},
                                    {4, 1},
                                    {4, 4},
                                    {16, 1},
                                    {16, 4},
                                    {16, 16},
                                    {64, 1},
                                    {64, 4},
                                    {64, 64}}) {
      const auto row = acrf::measure(topology, {free_percent, lost, run});
      rows.push_back(row);
      std::printf("%5d%% %5d %5d %10.0f %10.0f %10.0f %7.1f%% %7.2f%% %9.1f%% %9.1f%%\n",
                  free_percent, lost, run, row["us_p50"].get<double>(), row["us_p99"].get<double>(),
                  row["us_max"].get<double>(), row["proven_percent"].get<double>(),
                  row["gap_percent"].get<double>(), row["increase_percent"].get<double>(),
                  row["increase_new_ranks_percent"].get<double>());
    }
  std::printf("%s\n", rows.dump().c_str());
}
