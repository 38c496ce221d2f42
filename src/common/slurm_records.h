// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's records in ACRF's words, for the files that talk to libslurm.
#pragma once

#include <cstdint>
#include <string>

#include "core/fleet.h"

struct node_info;

namespace acrf {

// Without partitions and switch.
FleetNode fleet_node_of(const node_info& record);

// As squeue shows it; libslurm keeps its own table to itself.
std::string name_of_job_state(std::uint32_t state);

}  // namespace acrf
