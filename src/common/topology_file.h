// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the network's shape: Slurm's topology.conf, and acrf-topology.conf beside it.
#pragma once

#include <string>
#include <vector>

#include "core/topology.h"

namespace acrf {

// One leaf when the directory has no topology.conf. `nodes`: the cluster's node table.
Result<Topology> load_topology(const std::string& directory, const std::vector<std::string>& nodes);

// The network around a job's nodes: those that topology.conf names, and the job's.
struct JobTopology {
  Topology topology = Topology::flat(0);
  std::vector<std::string> names;  // the table that it was made for
  std::vector<int> positions;      // of the job's nodes, in their order

  const std::string& name_at(int position) const {
    return names[static_cast<std::size_t>(topology.node_at(position))];
  }
};
Result<JobTopology> topology_of_job(const std::string& directory,
                                    const std::vector<std::string>& nodes);

// The nodes of a job in the order of ranks that makes a ring cheapest; as they are when the
// directory has no topology.conf.
Result<std::vector<std::string>> order_for_ring(const std::string& directory,
                                                std::vector<std::string> nodes);

}  // namespace acrf
