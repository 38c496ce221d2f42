// SPDX-License-Identifier: GPL-2.0-or-later
// The network of the placement replay: a real Clos read from the Lingjun data set's topo.csv, or
// one of the same shape where that file is not at hand.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace acrf::perf {

struct Fabric {
  std::string origin;                  // what it is, for a reader
  std::vector<std::vector<int>> pods;  // nodes of each leaf of each pod
  int node_count() const;
  int leaf_count() const;
};

// topo.csv: ip,DSW,PSW,ASW; a leaf is a PSW and an ASW.
Result<Fabric> read_fabric(const std::string& path);
Fabric synthetic_fabric();

// Slurm's topology.conf. Nodes are n1 ... nN along the leaves, as racks are numbered, which lets
// plain cons_tres find neighbours without knowing of switches.
std::string topology_conf(const Fabric& fabric);

}  // namespace acrf::perf
