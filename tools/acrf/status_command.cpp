// SPDX-License-Identifier: GPL-2.0-or-later
// acrf status: the cluster in ten lines, for people and for Nagios.
#include <fmt/format.h>

#include <memory>

#include "cluster_commands.h"
#include "cluster_source.h"

namespace acrf {
namespace {

struct StatusOptions {
  SourceOptions source;
  StatusLimits limits;
};

// Nagios shows the first line of standard output.
void say_unknown(CommandLine& line, const Error& error) {
  if (!line.json) fmt::print("ACRF UNKNOWN - {}\n", printable_line(error.sentence, 300));
  if (line.json)
    print_json({{"status", static_cast<int>(CheckStatus::kUnknown)},
                {"word", name_of(CheckStatus::kUnknown)},
                {"sentence", error.sentence}});
  line.status = static_cast<int>(CheckStatus::kUnknown);
}

void show_status(CommandLine& line, const StatusOptions& options) {
  const auto source = open_source(line, options.source);
  if (!source) return say_unknown(line, source.error());
  const auto facts = (*source)->status();
  if (!facts) return say_unknown(line, facts.error());
  const auto judgement = judge_status(*facts, options.limits);
  if (line.json)
    print_json(status_json(*facts, judgement));
  else
    fmt::print("{}", status_text(*facts, judgement));
  line.status = static_cast<int>(judgement.status);
}

}  // namespace

void add_status_command(CommandLine& line) {
  auto* command = line.app.add_subcommand("status", "the cluster in ten lines; a Nagios check");
  command->fallthrough();
  const auto options = std::make_shared<StatusOptions>();
  add_source_options(command, options->source);
  command
      ->add_option("--warning", options->limits.warning,
                   "warn when more percent of the nodes are out of service (0)")
      ->check(CLI::Range(0.0, 100.0));
  command
      ->add_option("--critical", options->limits.critical,
                   "critical when more percent of the nodes are out of service (10)")
      ->check(CLI::Range(0.0, 100.0));
  command->callback([&line, options] { show_status(line, *options); });
}

}  // namespace acrf
