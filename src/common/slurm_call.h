// SPDX-License-Identifier: GPL-2.0-or-later
// What a failed call of libslurm means.
#pragma once

#include <string>

#include "core/result.h"

namespace acrf {

// "doing: what Slurm says of the code".
Error slurm_error(const std::string& doing, int slurm_errno);

}  // namespace acrf
