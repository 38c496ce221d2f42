// SPDX-License-Identifier: GPL-2.0-or-later
// What every command includes and takes a compiler long to read: compiled once with `make PCH=.gch`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
