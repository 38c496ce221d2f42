// SPDX-License-Identifier: GPL-2.0-or-later
// acrf completion bash|zsh: prints the script that makes the shell complete acrf's command line.
#include <fmt/format.h>

#include <memory>

#include "cluster_commands.h"
#include "completion.h"

namespace acrf {

void add_completion_command(CommandLine& line) {
  auto* command = line.app.add_subcommand("completion", "print a shell's completion script");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  command->callback([&line, shell] {
    const auto table = completion_table(line.app);
    fmt::print("{}", *shell == "bash" ? bash_completion(table) : zsh_completion(table));
  });
}

}  // namespace acrf
