// SPDX-License-Identifier: GPL-2.0-or-later
#include "quality.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

namespace acrf::perf {
namespace {

constexpr GpuMask kAllGpus = (GpuMask{1} << kGpusPerNode) - 1;
constexpr int kNear = 18, kFar = 1;  // links between two GPUs

}  // namespace

void Compared::add(double one_got, double one_best) {
  got += one_got;
  best += one_best;
  ++count;
}

void Compared::add(const Compared& other) {
  got += other.got;
  best += other.best;
  count += other.count;
}

void Placements::add(const Placements& other) {
  ring.add(other.ring);
  all_to_all.add(other.all_to_all);
  leaves.add(other.leaves);
  links.add(other.links);
  crossing_pods += other.crossing_pods;
  avoidably += other.avoidably;
}

GpuGroups island_gpus() {
  std::vector<std::vector<int>> weights(kGpusPerNode, std::vector<int>(kGpusPerNode, kFar));
  for (std::size_t a = 0; a < weights.size(); ++a)
    for (std::size_t b = a % 2; b < weights.size(); b += 2) weights[a][b] = kNear;
  return GpuGroups(kGpusPerNode, weights);
}

QualityBooks::QualityBooks(const Topology& topology, GpuGroups gpus)
    : topology_(topology),
      gpus_(std::move(gpus)),
      pack_(topology),
      free_(static_cast<std::size_t>(topology.node_count()), kAllGpus),
      suitable_(topology.leaves().size()) {}

bool QualityBooks::start(const HeldJob& job, int gpus_per_node) {
  for (const auto& held : job.nodes) {
    const auto free = free_[static_cast<std::size_t>(held.node)];
    if ((held.gpus & ~free) != 0 || std::popcount(held.gpus) != gpus_per_node) return false;
  }
  for (const auto& held : job.nodes) free_[static_cast<std::size_t>(held.node)] &= ~held.gpus;
  return true;
}

void QualityBooks::end(const HeldJob& job) {
  for (const auto& held : job.nodes) free_[static_cast<std::size_t>(held.node)] |= held.gpus;
}

void QualityBooks::pass_time(double seconds) {
  for (const auto mask : free_) {
    const int free = std::popcount(mask);
    usage_.all += seconds * kGpusPerNode;
    usage_.used += seconds * (kGpusPerNode - free);
    if (free < kGpusPerNode) usage_.on_partly_used_nodes += seconds * free;
  }
}

void QualityBooks::judge(const HeldJob& job, int gpus_per_node, const std::vector<bool>& offered,
                         StartedBy by) {
  auto& placements = placements_[static_cast<int>(by)];
  count_suitable(gpus_per_node, offered);
  if (job.nodes.size() > 1) judge_network(job, placements);
  if (gpus_per_node > 1 && gpus_per_node < kGpusPerNode)
    judge_links(job, gpus_per_node, offered, placements);
}

void QualityBooks::judge_network(const HeldJob& job, Placements& placements) {
  const int nodes = static_cast<int>(job.nodes.size());
  const auto shares = shares_of(job);
  PackAnswer best;
  pack_.solve(suitable_, nodes, best);
  placements.ring.add(static_cast<double>(share_cost(topology_, shares, Traffic::kRing)),
                      static_cast<double>(best.cost));
  placements.all_to_all.add(static_cast<double>(share_cost(topology_, shares, Traffic::kAllToAll)),
                            0);
  const auto touched = footprint(topology_, shares);
  placements.leaves.add(touched.leaves, fewest_leaves(nodes));
  placements.crossing_pods += touched.pods > 1;
  placements.avoidably += touched.pods > 1 && one_pod_has(nodes);
}

void QualityBooks::judge_links(const HeldJob& job, int gpus_per_node,
                               const std::vector<bool>& offered, Placements& placements) {
  std::int64_t best = 0, got = 0;
  for (std::size_t node = 0; node < free_.size(); ++node)
    if (offered[node])
      best = std::max(best, gpus_.weight_inside(gpus_.best(free_[node], gpus_per_node)));
  for (const auto& held : job.nodes) got += gpus_.weight_inside(held.gpus);
  placements.links.add(static_cast<double>(got),
                       static_cast<double>(best) * static_cast<double>(job.nodes.size()));
}

std::vector<LeafShare> QualityBooks::shares_of(const HeldJob& job) const {
  std::map<int, int> counts;
  for (const auto& held : job.nodes) ++counts[topology_.leaf_of(topology_.position_of(held.node))];
  std::vector<LeafShare> shares;
  for (const auto& [leaf, count] : counts) shares.push_back({leaf, count});
  return shares;
}

void QualityBooks::count_suitable(int gpus_per_node, const std::vector<bool>& offered) {
  std::fill(suitable_.begin(), suitable_.end(), 0);
  for (std::size_t node = 0; node < free_.size(); ++node) {
    const int leaf = topology_.leaf_of(topology_.position_of(static_cast<int>(node)));
    suitable_[static_cast<std::size_t>(leaf)] +=
        offered[node] && std::popcount(free_[node]) >= gpus_per_node;
  }
}

bool QualityBooks::one_pod_has(int nodes) const {
  std::map<int, int> by_pod;
  for (std::size_t leaf = 0; leaf < suitable_.size(); ++leaf)
    by_pod[topology_.leaf(static_cast<int>(leaf)).parent] += suitable_[leaf];
  return std::any_of(by_pod.begin(), by_pod.end(),
                     [&](const auto& pod) { return pod.second >= nodes; });
}

int QualityBooks::fewest_leaves(int nodes) const {
  auto largest_first = suitable_;
  std::sort(largest_first.begin(), largest_first.end(), std::greater<>());
  int leaves = 0;
  for (std::size_t i = 0; i < largest_first.size() && nodes > 0; ++i, ++leaves)
    nodes -= largest_first[i];
  return leaves;
}

}  // namespace acrf::perf
