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

Result<std::vector<std::string>> order_for_ring(const std::string& directory,
                                                std::vector<std::string> nodes) {
  const std::string tree = directory + "/topology.conf";
  const auto text = text_of(tree);
  if (!text) return text.error();
  if (text->empty()) return nodes;
  auto all = Topology::nodes_named_in(*text, tree);
  if (!all) return all.error();
  std::unordered_map<std::string, int> number;
  for (const auto& name : *all) number.emplace(name, static_cast<int>(number.size()));
  for (const auto& name : nodes)
    if (number.emplace(name, static_cast<int>(number.size())).second) all->push_back(name);
  const auto topology = load_topology(directory, *all);
  if (!topology) return topology.error();
  std::stable_sort(nodes.begin(), nodes.end(), [&](const auto& a, const auto& b) {
    return topology->position_of(number[a]) < topology->position_of(number[b]);
  });
  return nodes;
}

}  // namespace acrf
