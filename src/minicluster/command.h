// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a command to its end and gives what it printed.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace acrf::minicluster {

struct CommandResult {
  int status = -1;  // exit status; 128+N for signal N; 127 when it could not be started
  std::string output;
  std::string errors;
  bool ok() const { return status == 0; }
};

// `environment` replaces the caller's. A command that takes longer than `limit` is killed.
CommandResult run_command(const std::vector<std::string>& command,
                          const std::vector<std::string>& environment,
                          std::chrono::milliseconds limit = std::chrono::seconds(60));

// This process's environment with the given NAME=VALUE entries put over it.
std::vector<std::string> environment_with(const std::vector<std::string>& entries);

// The file of a command in this process's PATH or the sbin directories, or empty.
std::string find_command(const std::string& name);
std::string find_command(const std::string& name, std::string_view directories);

}  // namespace acrf::minicluster
