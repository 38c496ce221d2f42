// SPDX-License-Identifier: GPL-2.0-or-later
// The processes behind the node checks: each answers one line of JSON to each line that it reads,
// and can be killed when the kernel does not let it answer. The rules' memory lives in the worker
// of the node; what must survive a kill lives in the daemon.
#pragma once

#include <string>
#include <vector>

#include "core/check_rule.h"
#include "sources/node_readings.h"

namespace acrf {

// They return when standard input ends; the value is the process's exit code.
int run_node_probe(const NodePaths& paths, const std::string& memory_path);
int run_file_system_probe(const std::string& path);
// Runs `program` once per request: no shell, little environment, 4 kB of output, its process group
// killed when it ends or when time is up.
int run_check_worker(const std::vector<std::string>& program, int timeout_s,
                     const std::string& node);

// `owner` is a descriptor that hangs up when nobody waits for the result any more; -1: none.
CheckResult run_check(std::vector<std::string> program, int timeout_s, const std::string& node,
                      int owner = -1);

}  // namespace acrf
