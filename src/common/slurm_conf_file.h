// SPDX-License-Identifier: GPL-2.0-or-later
// Single values of slurm.conf, for what has to work while no slurmctld answers.
#pragma once

#include <string>
#include <string_view>

namespace acrf {

// The value of a global key, such as AuthInfo; empty when the file or the key is not there. Files
// that slurm.conf includes are not read.
std::string slurm_conf_value(const std::string& directory, std::string_view key);

// The user number of SlurmUser; root's when it is not set or has no number.
unsigned slurm_user_id(const std::string& directory);

}  // namespace acrf
