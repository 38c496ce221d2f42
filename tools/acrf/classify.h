// SPDX-License-Identifier: GPL-2.0-or-later
// Verdicts on the lines of a log as text: JSON lines, or a table for people.
#pragma once

#include <string>
#include <string_view>

#include "core/classify.h"

namespace acrf {

// {"line":1,"class":"gpu_lost","action":"reboot_node",...}; what is not known has no key.
std::string verdict_json(const LineVerdict& verdict, std::size_t line);

// One row; `text` is the line itself.
std::string verdict_row(const LineVerdict& verdict, std::size_t line, std::string_view text);
std::string verdict_heading();

}  // namespace acrf
