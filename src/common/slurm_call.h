// SPDX-License-Identifier: GPL-2.0-or-later
// Calls of libslurm: made again while a backup controller is about to take over, and what a failed
// one means.
#pragma once

#include <chrono>
#include <cstdint>
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

// libslurm itself waits through a failover, so a call that takes this long may have met another
// controller at its end.
inline constexpr std::chrono::seconds kSuspiciouslySlow{2};

// A call of this process was so slow, or met a controller that stood by, some seconds ago at most.
bool controller_may_be_another();

// Which controller answers, by the second in which it began: both of a pair may have begun in one.
Result<std::int64_t> controller_start();

}  // namespace acrf
