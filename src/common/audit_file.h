// SPDX-License-Identifier: GPL-2.0-or-later
// The audit log's database: a SQLite file in WAL mode, so that readers and the writer do not wait
// for each other and a process killed at any point leaves it readable. Every commit is synced.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/sqlite.h"
#include "core/audit_entry.h"
#include "core/result.h"

namespace acrf {

struct AuditLimits {
  int days = 365;
  int megabytes = 64;
};

// Which entries; what is empty or 0 does not matter.
struct AuditQuery {
  std::int64_t id = 0;
  std::string node = {};
  std::string incident = {};
  std::int64_t since_unix_ms = 0;
  std::int64_t after_id = 0;
  bool pending = false;      // only those without a result
  std::size_t newest = 100;  // so many at most
  bool oldest_first = false;  // of more than so many, the oldest
};

class AuditFile {
 public:
  // Creates the file, for its owner only, and its directory where they are missing. kInvalid: what
  // is there is damaged or no audit log; see set_aside(). Refuses a directory in which others may
  // write. A new file's entries have numbers above `after_id`.
  static Result<AuditFile> open(const std::string& path, std::int64_t after_id = 0);

  // The new entry's id.
  Result<std::int64_t> add(const AuditEntry& entry, const AuditResult& result,
                           std::int64_t now_unix_ms);
  // kNotFound: there is no such entry.
  Status finish(std::int64_t id, const AuditResult& result, std::int64_t now_unix_ms);
  Status mark_undone(std::int64_t id, std::int64_t undone_by);

  // Removes some of the entries that are too old or too many. True: there are more.
  Result<bool> trim(const AuditLimits& limits, std::int64_t now_unix_ms);

  // Somebody removed the file or put another in its place.
  bool is_replaced() const;

 private:
  AuditFile(std::string path, sqlite::Database database, dev_t device, ino_t inode)
      : path_(std::move(path)), database_(std::move(database)), device_(device), inode_(inode) {}

  Result<std::optional<std::int64_t>> newest_to_remove(const AuditLimits& limits,
                                                       std::int64_t now_unix_ms);

  std::string path_;
  sqlite::Database database_;
  dev_t device_;
  ino_t inode_;
};

// Renames a damaged file to audit.db.bad-TIME, and what SQLite keeps beside it, and removes all but
// the newest three that were set aside. The new name.
Result<std::string> set_aside(const std::string& path, std::int64_t now_unix_s);

// Reads without changing anything, beside a writer or without one. Oldest first.
Result<std::vector<AuditRecord>> find_audit_records(const std::string& path,
                                                    const AuditQuery& query);

}  // namespace acrf
