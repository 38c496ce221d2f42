// SPDX-License-Identifier: GPL-2.0-or-later
// What the daemon has done since it began, counted from its audit log as that grows. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "common/act_tally.h"
#include "core/audit_entry.h"

namespace acrf {

class ActCounts {
 public:
  explicit ActCounts(std::string audit_path) : path_(std::move(audit_path)) {}

  // Counts what is new of the daemon that began at `since_ms`; of another one, everything anew.
  void read_on(std::int64_t since_ms);
  void add_to(MetricText& text) const;

 private:
  void take(const AuditRecord& record);
  void look_at_pending();

  const std::string path_;
  std::int64_t since_ms_ = -1;
  std::int64_t last_id_ = 0;
  std::set<std::int64_t> pending_;                // entries without a result
  std::map<std::string, std::int64_t> first_ms_;  // incident -> its first entry
  ActTally tally_;
  MetricText::Histogram recoveries_;
};

}  // namespace acrf
