// SPDX-License-Identifier: GPL-2.0-or-later
// The cluster of the select benchmark: thousands of nodes of which only slurmctld knows, with or
// without a topology, and a load that is the same in every run.
#pragma once

#include <string>

#include "core/result.h"
#include "minicluster/cluster.h"

namespace acrf::perf {

enum class Plugin { kConsTres, kAcrf };
enum class Topology { kNone, kTree };

std::string_view name_of(Plugin plugin);
std::string_view name_of(Topology topology);

// Both plugins are the drop-in with its decision log; for cons_tres it only takes the time.
minicluster::ClusterOptions big_cluster(const std::string& root, int nodes, Plugin plugin,
                                        Topology topology);

// Puts jobs on about half of the nodes and returns when they hold them. The jobs are whole nodes
// in numbers of 8 to 64, and few GPUs on each of a few nodes.
Status fill_half(minicluster::Cluster& cluster);

// Puts a job on all nodes that holds all cores of the first socket of each, and one GPU. Jobs that
// want GPUs beside cores of the same socket can only have those of the other one then, which
// ACRF's plans do not know and cons_tres does.
Status fill_first_sockets(minicluster::Cluster& cluster);

// Cancels all jobs and returns when they are gone.
Status cancel_all(minicluster::Cluster& cluster);

// Returns when no job is pending.
Status wait_for_all_placed(minicluster::Cluster& cluster);

}  // namespace acrf::perf
