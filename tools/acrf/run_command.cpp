// SPDX-License-Identifier: GPL-2.0-or-later
// acrf run: in a batch script in place of srun, for jobs with --acrf-policy=failover.
#include <memory>

#include "commands.h"
#include "launcher.h"

namespace acrf {
namespace {

void launch(CommandLine& line, const LaunchOptions& options) {
  const auto status = Launcher(options).run();
  if (!status) return fail(line, status.error());
  line.status = *status;
}

}  // namespace

void add_run_command(CommandLine& line) {
  auto* command = line.app.add_subcommand(
      "run", "starts a program on the job's nodes, and again without one that is lost");
  const auto options = std::make_shared<LaunchOptions>();
  command
      ->add_option("--tasks-per-node", options->tasks_per_node, "tasks on each node (default: 1)")
      ->check(CLI::Range(1, 4096));
  command->add_option("--srun", options->srun, "an option for srun, as --srun=--cpus-per-task=8")
      ->allow_extra_args(false);
  command->add_option("--warm", options->warm,
                      "shell command to run on the spares at the start (default: true)");
  command
      ->add_option("--verdict-wait", options->verdict_wait_s,
                   "seconds that a program that failed waits for a verdict on its nodes "
                   "(default: 10)")
      ->check(CLI::Range(0, 3600));
  command->add_option("command", options->command, "the program and its arguments, after --")
      ->required();
  command->callback([&line, options] { launch(line, *options); });
}

}  // namespace acrf
