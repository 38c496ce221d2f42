// SPDX-License-Identifier: GPL-2.0-or-later
// A key in a file that only root may read.
#pragma once

#include <string>

#include "core/result.h"

namespace acrf {

// The one line in the file, at most 4 kB, without blanks at its ends. The file is opened without
// following links and checked as opened, so that nobody swaps it in between.
Result<std::string> read_secret(const std::string& path);

}  // namespace acrf
