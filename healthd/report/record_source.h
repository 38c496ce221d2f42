// SPDX-License-Identifier: GPL-2.0-or-later
// Incidents and audit entries for one hub. They lie on this node's disk anyway, so that only the
// place up to which the hub has them is kept here: nothing is lost while it is away, whatever
// becomes of acrf-healthd meanwhile. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "report/outbox.h"

namespace acrf {

class RecordSource {
 public:
  // Reads and writes `cursor_path`.
  RecordSource(std::string state_dir, std::string cursor_path);

  // Puts what the hub lacks into the outbox, the present driver's name with each new incident.
  void look(Outbox& outbox, const std::string& driver);

  // Of Outbox::acknowledge().
  void confirm(const std::string& record);
  // Writes the cursor when there is news in it.
  void save();

 private:
  void look_at_incidents(Outbox& outbox, const std::string& driver);
  void look_at_audit(Outbox& outbox);
  void begin_audit_anew();
  void load();

  const std::string state_dir_, cursor_path_;
  // What the hub has for sure.
  std::int64_t audit_ = 0;                        // up to this entry
  std::set<std::int64_t> pending_;                // of them, those that had no result yet
  std::map<std::string, std::int64_t> incidents_;  // id -> when the record was written, ms
  bool is_new_ = false;
  // What is in the outbox or has been sent.
  std::int64_t queued_audit_ = 0;
  std::set<std::int64_t> queued_pending_;
  std::map<std::string, std::int64_t> queued_incidents_;
};

}  // namespace acrf
