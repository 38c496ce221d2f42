// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a slurmd answers, without libslurm, whose calls wait for MessageTimeout.
#pragma once

#include <chrono>
#include <string>

namespace acrf {

// slurmd closes a connection whose other end says that nothing will come; one that hangs leaves it
// open, though the kernel accepted it. Asks until it answers or the time is up. A slurmd that
// answers notes an empty message in its log: ask only when something is the matter.
bool slurmd_answers(const std::string& address, int port, std::chrono::milliseconds patience);

}  // namespace acrf
