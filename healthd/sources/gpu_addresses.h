// SPDX-License-Identifier: GPL-2.0-or-later
// From Slurm's numbers of GPUs to their addresses on the bus: by gres.conf's device files and what
// the drivers say of those. Reading may hang in a driver: only worker processes call this.
#pragma once

#include <optional>
#include <vector>

#include "core/xid.h"
#include "sources/node_readings.h"

namespace acrf {

// One for each GPU in Slurm's order; nothing for those whose address can't be told. `expected` is
// how many Slurm counts: where that is not what is found, no number can be trusted.
std::vector<std::optional<PciAddress>> gpu_addresses(const NodePaths& paths, int expected);

}  // namespace acrf
