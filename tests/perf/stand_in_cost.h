// SPDX-License-Identifier: GPL-2.0-or-later
// What the stand-in for NVML costs by itself, so that it can be told from its caller's cost.
#pragma once

#include <string>

#include "core/result.h"

namespace acrf::perf {

// Microseconds of processor time within the library for one look at all GPUs of `state_file`, as
// acrf-healthd's worker looks.
Result<double> stand_in_us_per_pass(const std::string& library, const std::string& state_file);

}  // namespace acrf::perf
