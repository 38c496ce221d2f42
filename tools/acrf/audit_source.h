// SPDX-License-Identifier: GPL-2.0-or-later
// Where the commands about the audit log find it, and how they show it.
#pragma once

#include <string>

#include "commands.h"
#include "common/audit_json.h"
#include "core/audit_entry.h"

namespace acrf {

struct AuditSource {
  std::string state_dir;  // empty: StateDir of acrf.conf
  std::string node;       // empty: this host; stands for %n in StateDir
};

void add_audit_source(CLI::App* command, AuditSource& source);
Result<std::string> find_state_dir(const CommandLine& line, const AuditSource& source);

// A point in time in milliseconds: "2026-11-17", "2026-11-17T04:30[:00]" (local time), or how long
// ago, as "2h".
Result<std::int64_t> parse_since(const std::string& text);

std::string to_text(const AuditRecord& record);

// "2026-11-17T04:30:00.123", local time.
std::string time_text(std::int64_t unix_ms);

}  // namespace acrf
