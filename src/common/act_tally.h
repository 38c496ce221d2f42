// SPDX-License-Identifier: GPL-2.0-or-later
// Acts of the audit log by action and result, and drains by class, for /metrics. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "common/metric_text.h"
#include "core/audit_entry.h"

namespace acrf {

class ActTally {
 public:
  // Of an entry that has its result; what is no act does not count.
  void take(AuditKind kind, const std::string& what, AuditResult::State result,
            const std::string& fault_class);
  // As counters of these names.
  void add_to(MetricText& text, const std::string& actions, const std::string& drains) const;

 private:
  std::map<std::pair<std::string, std::string>, std::uint64_t> acts_;  // what, result
  std::map<std::string, std::uint64_t> drains_;                        // by class
};

}  // namespace acrf
