// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric.h"

#include <fmt/format.h>

#include <map>

#include "common/file.h"
#include "core/text.h"

namespace acrf::perf {

int Fabric::node_count() const {
  int nodes = 0;
  for (const auto& pod : pods)
    for (const int leaf : pod) nodes += leaf;
  return nodes;
}

int Fabric::leaf_count() const {
  std::size_t leaves = 0;
  for (const auto& pod : pods) leaves += pod.size();
  return static_cast<int>(leaves);
}

Result<Fabric> read_fabric(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  std::map<std::string, std::map<std::string, int>, std::less<>> leaves;  // nodes by pod and leaf
  const auto lines = split(trim(*text), '\n');
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto fields = split(trim(lines[i]), ',');
    if (fields.size() != 4)
      return Error{ErrorCode::kInvalid, fmt::format("{}:{}: not four fields", path, i + 1)};
    ++leaves[std::string(fields[2])][std::string(fields[3])];
  }
  Fabric fabric{"the Lingjun 2023 cluster's Clos", {}};
  for (const auto& [pod, of_pod] : leaves) {
    fabric.pods.emplace_back();
    for (const auto& [leaf, nodes] : of_pod) fabric.pods.back().push_back(nodes);
  }
  if (fabric.pods.empty()) return Error{ErrorCode::kInvalid, path + " names no host"};
  return fabric;
}

// The Lingjun cluster has 847 hosts on 48 + 42 + 29 leaves, most of which hold eight.
Fabric synthetic_fabric() {
  const std::pair<int, int> kPods[] = {{48, 362}, {42, 306}, {29, 179}};  // leaves, nodes
  Fabric fabric{"SYNTHETIC: a Clos in the shape of the Lingjun 2023 cluster's", {}};
  for (const auto& [leaves, nodes] : kPods) {
    std::vector<int> pod(static_cast<std::size_t>(leaves), nodes / leaves);
    for (int i = 0; i < nodes % leaves; ++i) ++pod[static_cast<std::size_t>(i)];
    fabric.pods.push_back(std::move(pod));
  }
  return fabric;
}

std::string topology_conf(const Fabric& fabric) {
  std::string leaves, pods;
  int leaf = 0, node = 0;
  for (std::size_t pod = 0; pod < fabric.pods.size(); ++pod) {
    const int first = leaf + 1;
    for (const int nodes : fabric.pods[pod]) {
      leaves += fmt::format("SwitchName=leaf{} Nodes=n[{}-{}]\n", ++leaf, node + 1, node + nodes);
      node += nodes;
    }
    pods += fmt::format("SwitchName=pod{} Switches=leaf[{}-{}]\n", pod + 1, first, leaf);
  }
  return leaves + pods + fmt::format("SwitchName=core Switches=pod[1-{}]\n", fabric.pods.size());
}

}  // namespace acrf::perf
