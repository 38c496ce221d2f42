// SPDX-License-Identifier: GPL-2.0-or-later
// Another program of ACRF's that answers and ends.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace acrf {

// What it prints. `text` is its standard input, which no other process can read as it could read
// words of a command line. Waits for its end.
Result<std::string> output_of(std::vector<std::string> words, const std::string& text = "");

}  // namespace acrf
