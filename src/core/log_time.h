// SPDX-License-Identifier: GPL-2.0-or-later
// Times in the headers of log lines: "Oct 29 12:07:39 2018", "2025-01-21T04:41:44,285060+00:00",
// "jan. 29 20:50:17". Good for the distance between lines of one log; zones and missing years are
// not looked after.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace acrf {

// True for a word with "hh:mm:ss" in it.
bool has_clock_time(std::string_view word);

// Microseconds since 1970 of the words of a header, as far as they say.
std::optional<std::int64_t> read_time_us(std::string_view header);

// "Oct29 12:07" and "Oct 9 12:07", as dmesg --human writes it where the minute changes.
std::optional<std::int64_t> read_minute_us(std::string_view text);

// "123.456", " 123", "+0.000001" as microseconds.
std::optional<std::int64_t> read_seconds_us(std::string_view text);

}  // namespace acrf
