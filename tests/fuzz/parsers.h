// SPDX-License-Identifier: GPL-2.0-or-later
// All that reads text which somebody else wrote: options, configuration, tokens. One call feeds one
// text to all of them. They may refuse it; what they accept must come out again as it went in.
#pragma once

#include <string_view>

namespace acrf::fuzz {

void feed_parsers(std::string_view text);

// Lines of logs, Fault lines and catalog tables.
void feed_fault_lines(std::string_view text);
void feed_fault_catalog(std::string_view text);

}  // namespace acrf::fuzz
