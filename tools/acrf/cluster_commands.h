// SPDX-License-Identifier: GPL-2.0-or-later
// The subcommands about the cluster as it is: looks at it, and an admin's acts.
#pragma once

#include "commands.h"

namespace acrf {

void add_act_commands(CommandLine& line);
void add_completion_command(CommandLine& line);
void add_gpu_command(CommandLine& line);
void add_node_command(CommandLine& line);
void add_status_command(CommandLine& line);
void add_top_command(CommandLine& line);

}  // namespace acrf
