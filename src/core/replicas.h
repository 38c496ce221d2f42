// SPDX-License-Identifier: GPL-2.0-or-later
// Replicas of one service, the tasks of an array: the fewer of them share a failure domain, the
// fewer are lost with it.
#pragma once

#include "core/node_set.h"
#include "core/topology.h"

namespace acrf {

// Adds to `avoid` what the next replica should keep off: leaves with more of its siblings than the
// least that a leaf with a candidate has, and nodes that have one themselves. All sets have the
// topology's size.
void keep_apart(const Topology& topology, const NodeSet& candidates, const NodeSet& siblings,
                NodeSet& avoid);

}  // namespace acrf
