// SPDX-License-Identifier: GPL-2.0-or-later
// A job's processes on this node, without slurmd: its step daemons are known by their sockets in
// slurmd's spool directory, and the program is what they started.
#pragma once

#include <string>
#include <vector>

#include "core/recovery.h"

namespace acrf {

// The job's program here, its step daemons not included: those end by themselves after it.
std::vector<int> processes_of_job(const std::string& spool, const std::string& node, JobId job);

}  // namespace acrf
