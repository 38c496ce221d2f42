// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/audit_json.h"

namespace acrf {

nlohmann::ordered_json to_json(const AuditRecord& record) {
  const auto& entry = record.entry;
  nlohmann::ordered_json all = {{"id", record.id},
                                {"time_ms", entry.unix_ms},
                                {"node", entry.node},
                                {"incident", entry.incident},
                                {"kind", name_of(entry.kind)},
                                {"what", entry.what},
                                {"subject", entry.subject},
                                {"decided_by", entry.decided_by},
                                {"mode", mode_name(entry.mode)},
                                {"evidence", entry.evidence},
                                {"result", name_of(record.result.state)},
                                {"sentence", record.result.sentence},
                                {"undo", entry.undo}};
  if (record.finished_unix_ms != 0) all["finished_ms"] = record.finished_unix_ms;
  if (record.undone_by != 0) all["undone_by"] = record.undone_by;
  return all;
}

}  // namespace acrf
