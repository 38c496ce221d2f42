// SPDX-License-Identifier: GPL-2.0-or-later
// What the hub has of the nodes when a chaos run is over.
#pragma once

#include <string>

#include "minicluster/cluster.h"

namespace acrf::minicluster {

// The hub's history has what the node's audit log has, each entry once and with the same result.
bool has_whole_audit(const Cluster& cluster, const std::string& node);

}  // namespace acrf::minicluster
