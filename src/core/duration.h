// SPDX-License-Identifier: GPL-2.0-or-later
// Lengths of time as Slurm's users type them. A bare number is minutes, as everywhere in Slurm; a
// suffix says otherwise.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/result.h"

namespace acrf {

inline constexpr std::string_view kDurationForms =
    "minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, "
    "days-hours:minutes:seconds, or a number with s, m or h";

// Longer ones are mistakes, and sums of shorter ones cannot overflow.
inline constexpr std::int64_t kLongestDuration_s = std::int64_t{3650} * 86'400;

// Seconds, from 0 to kLongestDuration_s. As in Slurm, a field may exceed 59: "90:00" and "0:90" are
// durations. Slurm's words for no limit are none.
Result<std::int64_t> parse_duration_s(std::string_view text);

}  // namespace acrf
