// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm_conf_file.h"

#include <pwd.h>

#include "common/file.h"
#include "core/text.h"

namespace acrf {

std::string slurm_conf_value(const std::string& directory, std::string_view key) {
  const auto text = read_file(directory + "/slurm.conf");
  if (!text) return "";
  for (auto line : split(*text, '\n')) {
    line = trim(line.substr(0, line.find('#')));
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || !equals_ignoring_case(trim(line.substr(0, equals)), key))
      continue;
    return std::string(trim(line.substr(equals + 1)));
  }
  return "";
}

unsigned slurm_user_id(const std::string& directory) {
  const auto name = slurm_conf_value(directory, "SlurmUser");
  if (const auto number = parse_unsigned(name)) return static_cast<unsigned>(*number);
  passwd entry{};
  passwd* found = nullptr;
  char buffer[4096];
  if (!name.empty()) ::getpwnam_r(name.c_str(), &entry, buffer, sizeof buffer, &found);
  return found ? found->pw_uid : 0;
}

}  // namespace acrf
