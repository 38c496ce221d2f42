// SPDX-License-Identifier: GPL-2.0-or-later
#include "audit_source.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <time.h>

#include "common/config_file.h"
#include "common/host_name.h"
#include "core/duration.h"
#include "core/node_verdict.h"

namespace acrf {
namespace {

constexpr std::size_t kLongestShown = 400;

}  // namespace

void add_audit_source(CLI::App* command, AuditSource& source) {
  command->add_option("--state-dir", source.state_dir,
                      "directory of audit.db (default: StateDir of acrf.conf)");
}

Result<std::string> find_state_dir(const CommandLine& line, const AuditSource& source) {
  if (!source.state_dir.empty()) return source.state_dir;
  const auto config = load_named_config(line.config_path);
  if (!config) return config.error();
  return expand_node(config->state_dir, source.node.empty() ? short_host_name() : source.node);
}

Result<std::int64_t> parse_since(const std::string& text) {
  for (const char* form : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"}) {
    struct tm when = {};
    when.tm_isdst = -1;
    const char* end = ::strptime(text.c_str(), form, &when);
    if (end && !*end) return std::int64_t{::mktime(&when)} * 1000;
  }
  const auto ago_s = parse_duration_s(text);
  if (ago_s) return (std::int64_t{::time(nullptr)} - *ago_s) * 1000;
  return Error{ErrorCode::kInvalid,
               "--since " + text + ": must be a time such as 2026-11-17T04:30, or how long ago, " +
                   "such as 2h"};
}

std::string time_text(std::int64_t unix_ms) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}",
                     fmt::localtime(static_cast<std::time_t>(unix_ms / 1000)), unix_ms % 1000);
}

std::string to_text(const AuditRecord& record) {
  const auto& entry = record.entry;
  const auto shown = [](const std::string& text) { return printable_line(text, kLongestShown); };
  std::string text =
      fmt::format("{:>6} {} {} {} {} {} by {} ({}): {}\n", record.id, time_text(entry.unix_ms),
                  shown(entry.node), name_of(entry.kind), shown(entry.what), shown(entry.subject),
                  shown(entry.decided_by), mode_name(entry.mode), to_line(record.result));
  if (!entry.incident.empty()) text += fmt::format("       incident {}\n", shown(entry.incident));
  if (!entry.evidence.empty()) text += fmt::format("       evidence {}\n", shown(entry.evidence));
  if (record.undone_by != 0) {
    text += fmt::format("       undone by {}\n", record.undone_by);
  } else if (!entry.undo.empty()) {
    text += fmt::format("       to undo: {}\n", shown(entry.undo));
  }
  return text;
}

}  // namespace acrf
