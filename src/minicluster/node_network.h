// SPDX-License-Identifier: GPL-2.0-or-later
// A network per node, for clusters whose nodes can be cut off. The cluster's first process has a
// network namespace of its own, with a bridge and the controllers; every node has one more, and a
// cable to the bridge that can be pulled. All of them end with the cluster's process space; nothing
// of the machine's own network is touched.
#pragma once

#include <string>

#include "minicluster/cluster_files.h"

namespace acrf::minicluster {

// What the controller or its backup listens on, and the node with this number (from 1).
std::string controller_address(const ClusterOptions& options, bool backup);
std::string node_address(const ClusterOptions& options, int number);

// A shell script that makes bridge, namespaces and cables; to be run once, inside the space.
std::string network_script(const ClusterOptions& options);

// Words to put before a command that is to run on the node, inside the space.
std::vector<std::string> enter_node_network(const ClusterOptions& options, const std::string& node);

// The name of a node's end of its cable at the bridge.
std::string cable_of(const std::string& node);

}  // namespace acrf::minicluster
