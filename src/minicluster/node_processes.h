// SPDX-License-Identifier: GPL-2.0-or-later
// All processes of one node of a private cluster: its slurmd and acrf-healthd with their children,
// the step daemons, and what jobs run there. The nodes share one process space, so that a node
// which dies or freezes as a whole has to be put together from them.
#pragma once

#include <string>

#include "core/result.h"

namespace acrf::minicluster {

// Sends the signal to each process of the node, newcomers included: after SIGKILL none is left,
// after SIGSTOP none runs. `root` is the cluster's directory.
Status signal_node(const std::string& root, const std::string& node, int signal);

}  // namespace acrf::minicluster
