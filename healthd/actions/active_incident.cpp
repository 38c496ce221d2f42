// SPDX-License-Identifier: GPL-2.0-or-later
#include "actions/active_incident.h"

namespace acrf {

Result<NodeView> look_at_node(SlurmClient& slurm, ActiveIncident& active) {
  auto node = slurm.node(active.incident.node);
  if (!node || node->answer_was_slow ||
      (active.controller_started_s &&
       node->controller_started_unix_s != active.controller_started_s))
    active.memory.controller_was_away = true;
  return node;
}

void note_in_place(ActiveIncident& active, const NodeView& node) {
  active.memory = {false, node.token.acted ? node.token.acted->unix_s : 0};
  active.controller_started_s = node.controller_started_unix_s;
}

AuditEntry entry_for(const Incident& incident, AuditKind kind, std::string what,
                     std::string subject) {
  AuditEntry entry;
  entry.node = incident.node;
  entry.incident = incident.id;
  entry.kind = kind;
  entry.what = std::move(what);
  entry.subject = std::move(subject);
  entry.decided_by = incident.root.verdict.fault_class;
  entry.mode = Mode::kEnforce;
  entry.evidence = incident.root.evidence;
  return entry;
}

}  // namespace acrf
