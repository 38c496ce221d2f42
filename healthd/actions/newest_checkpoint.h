// SPDX-License-Identifier: GPL-2.0-or-later
// The newest complete checkpoint of a job, looked for as its user: a daemon of root's must not read
// what a user has put there. In a process of its own, which gives up root for good.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/checkpoint_format.h"

namespace acrf {

// The worker's command, for ProgramRun; it prints the path, or nothing.
std::vector<std::string> newest_checkpoint_command(std::uint32_t user, CheckpointFormat format,
                                                   const std::string& directory);

// The worker itself: user, format and directory. The value is the process's exit code.
int run_newest_checkpoint(const std::vector<std::string>& arguments);

}  // namespace acrf
