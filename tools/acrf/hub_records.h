// SPDX-License-Identifier: GPL-2.0-or-later
// What all nodes have told a hub of their incidents and acts: what each has written down itself.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "common/audit_file.h"
#include "hub_client.h"

namespace acrf {

// What is missing or of another kind is left as in an empty record.
AuditRecord audit_from_json(const nlohmann::json& object);

// As find_audit_records() gives them: the newest, in the order of time. By node, incident, time and
// number.
Result<std::vector<AuditRecord>> hub_audit(const HubClient& hub, const AuditQuery& query);

// The newest incidents of a node, or of all; in the order of time.
Result<std::vector<nlohmann::json>> hub_incidents(const HubClient& hub, const std::string& node,
                                                  std::size_t newest);

}  // namespace acrf
