// SPDX-License-Identifier: GPL-2.0-or-later
// The cluster's shape for people: pods of leaves of nodes.
#pragma once

#include "core/topology.h"
#include "hub/model.h"

namespace acrf::hub {

// A leaf is a switch or block right above nodes; a pod is a switch right below the topmost one, or
// the topmost one itself. `names` and `gpus` are of the table that the topology was made for.
Layout layout_of(const Topology& topology, const std::vector<std::string>& names,
                 const std::vector<int>& gpus);

}  // namespace acrf::hub
