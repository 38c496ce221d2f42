// SPDX-License-Identifier: GPL-2.0-or-later
// Finds and reads acrf.conf.
#pragma once

#include <string>

#include "core/config.h"

namespace acrf {

// Where slurm.conf is, and topology.conf and acrf.conf beside it: the directory of $SLURM_CONF, else
// Slurm's own.
std::string slurm_directory();

std::string default_config_path();

// The defaults when there is no file and `must_exist` is false.
Result<Config> load_config(const std::string& path, bool must_exist);

struct KeptConfig {
  Config config;
  std::string problem;  // what is wrong with the file, when `config` is the last good one
};

// As load_config(path, false), but a faulty file leaves in force what was: `kept` has the text of
// the last good one, for programs that start anew to read their files again, as slurmctld does
// since 23.11. With `keep` the text of a good file is put there.
Result<KeptConfig> load_config_or_kept(const std::string& path, const std::string& kept, bool keep);

// The file that an option named, which must exist; or, with none named, the one beside slurm.conf.
Result<Config> load_named_config(const std::string& path);

}  // namespace acrf
