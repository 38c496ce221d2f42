// SPDX-License-Identifier: GPL-2.0-or-later
// A job's processes on this node, without slurmd: its step daemons are known by their sockets in
// slurmd's spool directory, and the program is what they started.
#pragma once

#include <string>
#include <vector>

#include "core/recovery.h"

namespace acrf {

struct JobHere {
  std::vector<int> program;
  // The step daemon of its script is there, which ends what that left behind before it goes.
  bool has_script_daemon = false;
};

JobHere find_job_here(const std::string& spool, const std::string& node, JobId job);

}  // namespace acrf
