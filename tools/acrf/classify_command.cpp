// SPDX-License-Identifier: GPL-2.0-or-later
// acrf classify [--json] [--incidents] [FILE]: what acrf-healthd would make of a log, line by line.
#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <iostream>
#include <memory>

#include "classify.h"
#include "commands.h"
#include "common/config_file.h"
#include "common/file.h"

namespace acrf {
namespace {

constexpr std::size_t kLongestLine = 1 << 20;

struct Classify {
  std::string file;
  bool incidents = false;
};

// The tables as this site has changed them, if it has.
Result<Catalog> site_catalog(const CommandLine& line) {
  auto config = load_named_config(line.config_path);
  if (!config) return config.error();
  return Catalog::with_rules(std::move(config->faults));
}

// Calls `take` with each line and its number.
template <typename Take>
void each_line(std::istream& input, const Take& take) {
  std::string text;
  for (std::size_t number = 1; std::getline(input, text); ++number) {
    if (text.size() > kLongestLine) text.resize(kLongestLine);
    if (text.find('\x1b') != std::string::npos) text = without_colours(text);
    take(text, number);
  }
}

void print_verdicts(std::istream& input, bool as_json, const Catalog& catalog) {
  if (!as_json) fmt::print("{}", verdict_heading());
  LineReader reader(catalog);
  each_line(input, [&](const std::string& text, std::size_t number) {
    const auto verdict = reader.read(parse_log_line(text)).verdict;
    if (as_json) {
      fmt::print("{}\n", verdict_json(verdict, number));
    } else {
      fmt::print("{}", verdict_row(verdict, number, text));
    }
  });
}

void print_incidents(std::istream& input, bool as_json, const Catalog& catalog) {
  IncidentReport report(catalog);
  each_line(input, [&](const std::string& text, std::size_t number) { report.take(text, number); });
  fmt::print("{}", as_json ? report.to_json() : report.to_text());
}

void classify(CommandLine& line, const Classify& options) {
  const auto catalog = site_catalog(line);
  if (!catalog) return fail(line, catalog.error());
  const auto print = options.incidents ? print_incidents : print_verdicts;
  if (options.file.empty() || options.file == "-") return print(std::cin, line.json, *catalog);
  struct stat status {};
  if (::stat(options.file.c_str(), &status) != 0)
    return fail(line, system_error("open " + options.file));
  if (S_ISDIR(status.st_mode))
    return fail(line, {ErrorCode::kInvalid, options.file + " is a directory, not a log"});
  std::ifstream input(options.file, std::ios::binary);
  if (!input) return fail(line, system_error("open " + options.file));
  print(input, line.json, *catalog);
  if (input.bad()) fail(line, system_error("read " + options.file));
}

}  // namespace

void add_classify_command(CommandLine& line) {
  auto* command = line.app.add_subcommand("classify", "say what the lines of a log mean");
  const auto options = std::make_shared<Classify>();
  command->add_option("FILE", options->file, "log to read (default: standard input)");
  command->add_flag("--incidents", options->incidents, "print incidents instead of lines");
  command->set_version_flag("--version", "catalog " + Catalog::builtin().version(),
                            "print the version of the catalog of faults");
  command->callback([&line, options] { classify(line, *options); });
}

}  // namespace acrf
