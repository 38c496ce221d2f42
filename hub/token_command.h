// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-hub token add NAME --role read|admin [--days N]
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace acrf::hub {

// The subcommand `token`. It runs when it is chosen and leaves its exit status in `status`.
CLI::App* add_token_command(CLI::App& app, const std::string& config_path, int& status);

}  // namespace acrf::hub
