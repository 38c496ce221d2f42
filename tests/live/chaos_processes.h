// SPDX-License-Identifier: GPL-2.0-or-later
// The processes of a private cluster as the outside sees them, found by the namespaces they live in
// and never by name alone.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "minicluster/cluster.h"

namespace acrf::minicluster {

struct JobProcess {
  pid_t pid = -1;
  std::string job, node, what;  // what: the program's name
};

// Scripts, sruns, launchers and ranks of jobs, in an order that depends on nothing but them.
std::vector<JobProcess> job_processes(const Cluster& cluster);

// Sends the signal to every process that lives in the node's network: daemons, steps and jobs.
// Gives how many there were.
int signal_node(const Cluster& cluster, const std::string& node, int signal);

}  // namespace acrf::minicluster
