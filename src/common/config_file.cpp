// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/config_file.h"

#include <cstdlib>

#include "acrf_config.h"
#include "common/file.h"

namespace acrf {

std::string slurm_directory() {
  const char* slurm_conf = std::getenv("SLURM_CONF");
  if (!slurm_conf || *slurm_conf != '/') return ACRF_SLURM_SYSCONFDIR;
  const std::string path = slurm_conf;
  return path.substr(0, path.rfind('/'));
}

std::string default_config_path() { return slurm_directory() + "/acrf.conf"; }

Result<Config> load_config(const std::string& path, bool must_exist) {
  const auto text = read_file(path);
  if (text) return parse_config(*text, path);
  if (text.error().code == ErrorCode::kNotFound && !must_exist) return Config{};
  return text.error();
}

Result<Config> load_named_config(const std::string& path) {
  return path.empty() ? load_config(default_config_path(), false) : load_config(path, true);
}

}  // namespace acrf
