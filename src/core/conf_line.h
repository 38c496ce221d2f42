// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of "Key=value Key=value", the shape of Slurm's configuration files: comments, continued
// lines and quotes taken care of.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace acrf {

struct ConfLine {
  int number = 0;  // of its first line in the file
  std::vector<std::pair<std::string, std::string>> fields;

  // The value, or nullptr; keys in any case.
  const std::string* find(std::string_view key) const;
};

Result<std::vector<ConfLine>> parse_conf_lines(std::string_view text, std::string_view origin);

// "origin:line: sentence"
Error conf_error(std::string_view origin, int line, std::string_view sentence);

}  // namespace acrf
