// SPDX-License-Identifier: GPL-2.0-or-later
// Where acrf-courier is: beside the running program, or in the sbin beside its bin.
#pragma once

#include <filesystem>
#include <string>

namespace acrf {

inline std::string courier_path() {
  std::error_code error;
  const auto directory = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const auto beside = directory / "acrf-courier";
  if (std::filesystem::exists(beside, error)) return beside;
  return (directory.parent_path() / "sbin/acrf-courier").string();
}

}  // namespace acrf
