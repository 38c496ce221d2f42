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

Result<KeptConfig> load_config_or_kept(const std::string& path, const std::string& kept,
                                       bool keep) {
  auto text = read_file(path);
  if (!text && text.error().code == ErrorCode::kNotFound) text = std::string();
  const auto config = text ? parse_config(*text, path) : Result<Config>(text.error());
  const auto old = read_file(kept);
  if (config) {
    // What can't be kept is no reason to refuse what was read.
    if (keep && (!old || *old != *text)) static_cast<void>(write_file(kept, *text));
    return KeptConfig{*config, ""};
  }
  if (!old) return config.error();
  const auto last = parse_config(*old, kept);
  if (!last) return config.error();
  return KeptConfig{*last, config.error().sentence};
}

Result<Config> load_named_config(const std::string& path) {
  return path.empty() ? load_config(default_config_path(), false) : load_config(path, true);
}

}  // namespace acrf
