// SPDX-License-Identifier: GPL-2.0-or-later
// Scripts that let a shell complete the command line, made from the parser itself.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace acrf {

// What can follow the words of a subcommand.
struct CompletionWords {
  std::vector<std::string> subcommands;
  std::vector<std::string> options;  // "--json", "-f"
  std::vector<std::string> valued;   // those of them that take a value
};

// By the subcommands' words: "" is the program alone, "checkpoint list" one below. Options of the
// levels above are among those below where the parser takes them there.
using CompletionTable = std::map<std::string, CompletionWords>;

CompletionTable completion_table(CLI::App& app);

std::string bash_completion(const CompletionTable& table);
std::string zsh_completion(const CompletionTable& table);

}  // namespace acrf
