// SPDX-License-Identifier: GPL-2.0-or-later
// Calls of libslurm: made again while a backup controller is about to take over, and what a failed
// one means.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "core/result.h"

namespace acrf {

// "doing: what Slurm says of the code".
Error slurm_error(const std::string& doing, int slurm_errno);

// What `call` returns: SLURM_SUCCESS, or anything else with errno set. While the controller that
// answers only stands by, it is asked again, for some seconds after libslurm has given up waiting.
int ask_controller(const std::function<int()>& call,
                   std::chrono::milliseconds pause = std::chrono::milliseconds(500));

}  // namespace acrf
