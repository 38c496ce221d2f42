// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub_records.h"

#include <fmt/format.h>

#include <algorithm>

namespace acrf {
namespace {

using nlohmann::json;

constexpr std::size_t kPage = 1000;

}  // namespace

AuditRecord audit_from_json(const json& object) {
  const auto text = [&](const char* key) { return value_of<std::string>(object, key); };
  AuditRecord record;
  record.id = value_of<std::int64_t>(object, "id");
  record.entry.unix_ms = value_of<std::int64_t>(object, "time_ms");
  record.entry.node = text("node");
  record.entry.incident = text("incident");
  record.entry.kind = parse_audit_kind(text("kind")).value_or(AuditKind::kDecision);
  record.entry.what = text("what");
  record.entry.subject = text("subject");
  record.entry.decided_by = text("decided_by");
  record.entry.mode = parse_mode(text("mode")).value_or(Mode::kObserve);
  record.entry.evidence = text("evidence");
  record.entry.undo = text("undo");
  record.result = {parse_audit_state(text("result")).value_or(AuditResult::State::kUnknown),
                   text("sentence")};
  record.finished_unix_ms = value_of<std::int64_t>(object, "finished_ms");
  record.undone_by = value_of<std::int64_t>(object, "undone_by");
  return record;
}

Result<std::vector<AuditRecord>> hub_audit(const HubClient& hub, const AuditQuery& query) {
  std::vector<AuditRecord> all;
  std::string after;
  while (all.size() < query.newest) {
    const auto wanted = std::min(kPage, query.newest - all.size());
    const auto said = hub.get(fmt::format("/v1/audit?limit={}&since={}&node={}&incident={}{}",
                                          wanted, query.since_unix_ms, escaped(query.node),
                                          escaped(query.incident), after));
    if (!said) return said.error();
    const auto page = value_of<std::vector<json>>(*said, "audit");
    for (const auto& object : page) all.push_back(audit_from_json(object));
    if (page.size() < wanted) break;
    after = fmt::format("&after={}", value_of<std::int64_t>(page.back(), "row"));
  }
  std::reverse(all.begin(), all.end());
  return all;
}

Result<std::vector<json>> hub_incidents(const HubClient& hub, const std::string& node,
                                        std::size_t newest) {
  const auto said = hub.get(
      fmt::format("/v1/incidents?limit={}&node={}", std::min(kPage, newest), escaped(node)));
  if (!said) return said.error();
  auto all = value_of<std::vector<json>>(*said, "incidents");
  std::reverse(all.begin(), all.end());
  return all;
}

}  // namespace acrf
