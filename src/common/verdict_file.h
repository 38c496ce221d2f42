// SPDX-License-Identifier: GPL-2.0-or-later
// Where acrf-healthd writes what it thinks of its node, every few seconds, for all who ask.
#pragma once

#include <string>

namespace acrf {

inline std::string verdict_path(const std::string& state_dir) {
  return state_dir + "/verdict.json";
}

}  // namespace acrf
