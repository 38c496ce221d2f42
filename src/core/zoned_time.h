// SPDX-License-Identifier: GPL-2.0-or-later
// Points in time as people write them, with their zone: "2026-11-17T20:00Z",
// "2026-11-17T20:00:30+01:00".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace acrf {

inline constexpr std::string_view kZonedTimeForm =
    "YYYY-MM-DDThh:mm[:ss] with Z or +hh:mm after it";

std::optional<std::int64_t> parse_zoned_time(std::string_view text);

// "2026-11-17T20:00:30Z"
std::string to_utc_text(std::int64_t unix_s);

}  // namespace acrf
