// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's log after a soak: which of its errors speak of wrong books.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace acrf::minicluster {

// Error lines, without time and numbers, and how often each came.
std::map<std::string, int> kinds_of_errors(std::string_view log);

// Errors about resources and their selection that plain Slurm would not have written.
std::vector<std::string> suspicious_errors(std::string_view log);

}  // namespace acrf::minicluster
