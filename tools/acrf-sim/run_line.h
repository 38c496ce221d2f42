// SPDX-License-Identifier: GPL-2.0-or-later
// The file in which a job says when its runs begin and end, one JSON object a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "books.h"

namespace acrf::sim {

inline constexpr char kRunFile[] = "runs";

// Times in the file are Unix milliseconds.
std::string to_text(const RunLine& line, const std::string& hosts = "");
// All complete lines from `from` on, which is moved past them; lines that make no sense are left
// out.
std::vector<RunLine> parse_run_lines(std::string_view text, std::size_t& from);

}  // namespace acrf::sim
