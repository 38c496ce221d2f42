// SPDX-License-Identifier: GPL-2.0-or-later
// A private cluster that a person starts at a terminal: what it says at the beginning, and how to
// go on when the cluster stays up.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "minicluster/cluster.h"

namespace acrf::minicluster {

using Say = std::function<void(const std::string& text)>;

Result<std::unique_ptr<Cluster>> start_session(const ClusterOptions& options, const Say& say);

// Leaves the cluster up and says how to use it and how to stop it.
Status keep_session(Cluster& cluster, const std::string& stop_command, const Say& say);

// What that command does.
Status stop_session(const std::string& root, const Say& say);

}  // namespace acrf::minicluster
