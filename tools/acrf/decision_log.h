// SPDX-License-Identifier: GPL-2.0-or-later
// select/acrf's log of decisions, on slurmctld's host.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/result.h"

namespace acrf {

// `file`, or acrf-decisions in StateSaveLocation when that is empty. Asks slurmctld.
Result<std::string> decision_log_path(const std::string& file);

// All that is kept about the job, oldest first.
Result<std::vector<nlohmann::json>> read_decisions(const std::string& path, std::uint64_t job);

// In a sentence.
std::string meaning_of_outcome(const std::string& outcome);

}  // namespace acrf
