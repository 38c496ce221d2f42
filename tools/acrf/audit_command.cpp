// SPDX-License-Identifier: GPL-2.0-or-later
// acrf audit: what was decided and done on this node, and how it ended.
#include <fmt/format.h>

#include <memory>

#include "audit_source.h"
#include "commands.h"
#include "common/audit_log.h"

namespace acrf {
namespace {

struct Audit {
  AuditSource source;
  std::string since;
  AuditQuery query;
};

void print_audit(CommandLine& line, Audit& audit) {
  if (!audit.since.empty()) {
    const auto since = parse_since(audit.since);
    if (!since) return fail(line, since.error());
    audit.query.since_unix_ms = *since;
  }
  audit.query.node = audit.source.node;
  const auto state_dir = find_state_dir(line, audit.source);
  if (!state_dir) return fail(line, state_dir.error());
  const auto records = find_audit_records(audit_path(*state_dir), audit.query);
  if (!records) return fail(line, records.error());
  for (const auto& record : *records) {
    if (line.json) {
      fmt::print("{}\n",
                 to_json(record).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
    } else {
      fmt::print("{}", to_text(record));
    }
  }
}

}  // namespace

void add_audit_command(CommandLine& line) {
  auto* command = line.app.add_subcommand("audit", "what ACRF decided and did on this node");
  const auto audit = std::make_shared<Audit>();
  add_audit_source(command, audit->source);
  command->add_option("--node", audit->source.node, "entries about this node");
  command->add_option("--incident", audit->query.incident, "entries of this incident");
  command->add_option("--since", audit->since, "a time (2026-11-17T04:30) or how long ago (2h)");
  command->add_option("--limit", audit->query.newest, "the newest N entries (100)")
      ->check(CLI::Range(1, 1'000'000));
  command->callback([&line, audit] { print_audit(line, *audit); });
}

}  // namespace acrf
