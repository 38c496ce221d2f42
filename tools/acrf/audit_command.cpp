// SPDX-License-Identifier: GPL-2.0-or-later
// acrf audit: what was decided and done, and how it ended: on all nodes as a hub knows it, or on
// this one.
#include <fmt/format.h>

#include <memory>

#include "audit_source.h"
#include "cluster_source.h"
#include "common/audit_log.h"
#include "hub_records.h"

namespace acrf {
namespace {

struct Audit {
  AuditSource source;
  SourceOptions hub;
  std::string since;
  AuditQuery query;
};

Result<std::vector<AuditRecord>> find_records(const CommandLine& line, const Audit& audit) {
  if (audit.source.state_dir.empty()) {
    const auto hub = find_hub(line, audit.hub);
    if (!hub) return hub.error();
    if (*hub) return hub_audit(**hub, audit.query);
  }
  const auto state_dir = find_state_dir(line, audit.source);
  if (!state_dir) return state_dir.error();
  return find_audit_records(audit_path(*state_dir), audit.query);
}

void print_audit(CommandLine& line, Audit& audit) {
  if (!audit.since.empty()) {
    const auto since = parse_since(audit.since);
    if (!since) return fail(line, since.error());
    audit.query.since_unix_ms = *since;
  }
  audit.query.node = audit.source.node;
  const auto records = find_records(line, audit);
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
  auto* command = line.app.add_subcommand("audit", "what ACRF decided and did");
  const auto audit = std::make_shared<Audit>();
  add_audit_source(command, audit->source);
  add_source_options(command, audit->hub);
  command->add_option("--node", audit->source.node, "entries about this node");
  command->add_option("--incident", audit->query.incident, "entries of this incident");
  command->add_option("--since", audit->since, "a time (2026-11-17T04:30) or how long ago (2h)");
  command->add_option("--limit", audit->query.newest, "the newest N entries (100)")
      ->check(CLI::Range(1, 1'000'000));
  command->callback([&line, audit] { print_audit(line, *audit); });
}

}  // namespace acrf
