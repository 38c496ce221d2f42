// SPDX-License-Identifier: GPL-2.0-or-later
// The subcommands of acrf. Each adds itself to the command line; what it does runs when it is
// chosen and leaves the exit status in `status`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/result.h"

namespace acrf {

struct CommandLine {
  CLI::App& app;
  std::string config_path;  // empty: acrf.conf beside slurm.conf
  bool json = false;
  int status = 0;
};

void add_brakes_command(CommandLine& line);
void add_audit_command(CommandLine& line);
void add_checkpoint_command(CommandLine& line);
void add_classify_command(CommandLine& line);
void add_conf_command(CommandLine& line);
void add_events_command(CommandLine& line);
void add_explain_command(CommandLine& line);
void add_inject_command(CommandLine& line);
void add_interval_command(CommandLine& line);
void add_job_command(CommandLine& line);
void add_maintenance_command(CommandLine& line);
void add_notify_command(CommandLine& line);
void add_place_command(CommandLine& line);
void add_progress_command(CommandLine& line);
void add_rank_order_command(CommandLine& line);
void add_run_command(CommandLine& line);
void add_undo_command(CommandLine& line);

// Prints "acrf: sentence" and makes the command end with 1.
void fail(CommandLine& line, const Error& error);

}  // namespace acrf
