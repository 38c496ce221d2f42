// SPDX-License-Identifier: GPL-2.0-or-later
// An entry of the audit log as JSON: for `acrf audit --json`, for the hub and from it.
#pragma once

#include <nlohmann/json.hpp>

#include "core/audit_entry.h"

namespace acrf {

nlohmann::ordered_json to_json(const AuditRecord& record);

}  // namespace acrf
