// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/topology_file.h"

#include <algorithm>
#include <unordered_map>

#include "common/file.h"

namespace acrf {
namespace {

// Empty when the file does not exist.
Result<std::string> text_of(const std::string& path) {
  auto text = read_file(path);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::string();
  return text;
}

}  // namespace

Result<Topology> load_topology(const std::string& directory,
                               const std::vector<std::string>& nodes) {
  const std::string tree = directory + "/topology.conf";
  const auto text = text_of(tree);
  if (!text) return text.error();
  auto topology = Topology::parse(*text, tree, nodes);
  if (!topology) return topology;
  const std::string more = directory + "/acrf-topology.conf";
  const auto refinement = text_of(more);
  if (!refinement) return refinement.error();
  if (const auto refined = topology->refine(*refinement, more, nodes); !refined)
    return refined.error();
  return topology;
}

Result<JobTopology> topology_of_job(const std::string& directory,
                                    const std::vector<std::string>& nodes) {
  const std::string tree = directory + "/topology.conf";
  const auto text = text_of(tree);
  if (!text) return text.error();
  JobTopology job;
  if (!text->empty()) {
    auto all = Topology::nodes_named_in(*text, tree);
    if (!all) return all.error();
    job.names = std::move(*all);
  }
  std::unordered_map<std::string, int> number;
  for (const auto& name : job.names) number.emplace(name, static_cast<int>(number.size()));
  for (const auto& name : nodes)
    if (number.emplace(name, static_cast<int>(number.size())).second) job.names.push_back(name);
  auto topology = load_topology(directory, job.names);
  if (!topology) return topology.error();
  job.topology = std::move(*topology);
  for (const auto& name : nodes) job.positions.push_back(job.topology.position_of(number[name]));
  return job;
}

Result<std::vector<std::string>> order_for_ring(const std::string& directory,
                                                std::vector<std::string> nodes) {
  const auto job = topology_of_job(directory, nodes);
  if (!job) return job.error();
  std::vector<std::size_t> order(nodes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return job->positions[a] < job->positions[b]; });
  std::vector<std::string> sorted;
  for (const auto i : order) sorted.push_back(std::move(nodes[i]));
  return sorted;
}

}  // namespace acrf
