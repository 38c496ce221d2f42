// SPDX-License-Identifier: GPL-2.0-or-later
// acrf: ACRF's command line.
#include <cstdio>

#include "acrf_config.h"
#include "cluster_commands.h"
#include "cluster_status.h"
#include "commands.h"

namespace acrf {

void fail(CommandLine& line, const Error& error) {
  std::fprintf(stderr, "acrf: %s\n", error.sentence.c_str());
  line.status = 1;
}

namespace {

// Says what is wrong with the command line. A check of it is one that could not be made.
int refuse(CLI::App& app, const CLI::ParseError& problem) {
  const auto words = app.remaining(true);
  const bool unknown = dynamic_cast<const CLI::RequiredError*>(&problem) && !words.empty() &&
                       words.front().rfind('-', 0) != 0;
  int status = static_cast<int>(problem.get_exit_code());
  if (unknown)
    std::fprintf(stderr, "acrf: %s: no such command (see acrf --help)\n", words.front().c_str());
  else
    status = app.exit(problem);
  if (status == 0) return 0;  // --help
  for (const auto* command : app.get_subcommands())
    for (const char* check : {"status", "node", "gpu", "brakes"})
      if (command->get_name() == check) return static_cast<int>(CheckStatus::kUnknown);
  return status;
}

}  // namespace
}  // namespace acrf

int main(int argc, char** argv) {
  CLI::App app("Looks at and works with an ACRF cluster.", "acrf");
  acrf::CommandLine line{app, {}, false, 0};
  app.add_option("-f,--config", line.config_path, "acrf.conf to use (default: beside slurm.conf)");
  app.add_flag("--json", line.json, "print JSON");
  app.set_version_flag("-V,--version", std::string("acrf ") + ACRF_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  acrf::add_act_commands(line);
  acrf::add_brakes_command(line);
  acrf::add_audit_command(line);
  acrf::add_checkpoint_command(line);
  acrf::add_classify_command(line);
  acrf::add_completion_command(line);
  acrf::add_conf_command(line);
  acrf::add_events_command(line);
  acrf::add_explain_command(line);
  acrf::add_gpu_command(line);
  acrf::add_inject_command(line);
  acrf::add_interval_command(line);
  acrf::add_job_command(line);
  acrf::add_maintenance_command(line);
  acrf::add_node_command(line);
  acrf::add_notify_command(line);
  acrf::add_place_command(line);
  acrf::add_progress_command(line);
  acrf::add_rank_order_command(line);
  acrf::add_run_command(line);
  acrf::add_status_command(line);
  acrf::add_top_command(line);
  acrf::add_undo_command(line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return acrf::refuse(app, problem);
  }
  return line.status;
}
