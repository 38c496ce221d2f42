// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the audit log, from a thread of its own: an act waits for its entry to be on disk, but
// never for long. A disk that is full, slow or broken stops no act; entries then go to the
// process's log at once, are kept in memory, and reach the database when it can be written again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/audit_file.h"
#include "core/audit_entry.h"

namespace acrf {

// "StateDir/audit.db"
std::string audit_path(const std::string& state_dir);

// The number that `acrf audit` shows and `acrf undo` takes; below zero: not in the database yet.
struct AuditId {
  std::int64_t value = 0;
  bool is_recorded() const { return value > 0; }
};

class AuditLog {
 public:
  struct Options {
    std::string path;
    AuditLimits limits;
    std::chrono::milliseconds patience{250};  // of an act for its entry
    std::chrono::milliseconds retry{30'000};  // between two attempts at a file that cannot be used
    std::chrono::milliseconds tidy{3'600'000};  // between two looks at its age, size and soundness
    // What has no result yet was begun by an earlier life of this process, which ended before it
    // could tell: nobody knows what came of it.
    bool ends_pending = false;
  };

  explicit AuditLog(Options options);
  // Writes what is waiting, unless the file cannot be used.
  ~AuditLog();

  // To be called before the act. On return the entry is on disk or in the process's log.
  AuditId begin(AuditEntry entry);
  // To be called after it. Does not wait.
  void finish(AuditId id, AuditResult result);
  // What needs no second call: a decision, an act that somebody else did.
  AuditId record(AuditEntry entry, AuditResult result);

  // The entry `id` was undone by what the entry `by` did.
  void mark_undone(AuditId id, AuditId by);

  // Waits until all that came before is on disk; false: not within the time.
  bool flush(std::chrono::milliseconds limit);

 private:
  // One thing to write.
  struct Write {
    enum class Kind { kAdd, kFinish, kUndone, kGiveUp } kind = Kind::kAdd;
    std::int64_t id = 0;  // of an addition: below zero, until the database gives it its number
    AuditEntry entry;
    AuditResult result;
    std::int64_t unix_ms = 0;
    std::int64_t undone_by = 0;
  };

  AuditId add(AuditEntry entry, AuditResult result);
  void enqueue(Write write);
  void run();
  Status write(const Write& write);
  Status write_once(const Write& write);
  Status open_file();
  void start_anew(const Error& error);
  Status finish_entry(const Write& write);
  Status finish_pending(const Write& write);
  void fail(const Error& error);
  void succeed();
  bool tidy();
  std::int64_t known_id(std::int64_t id);

  const Options options_;
  // The writer's alone.
  std::optional<AuditFile> file_;
  std::int64_t last_number_ = 0;  // in the database; a new file goes on from it

  std::mutex mutex_;
  std::condition_variable wake_, written_;
  std::deque<Write> queue_;  // the first is being written
  bool writing_ = false;
  bool stopping_ = false;
  bool usable_ = true;                                // the last attempt succeeded
  std::size_t failures_ = 0;                          // attempts that failed
  std::size_t dropped_ = 0;                           // from the queue since it was usable
  std::chrono::steady_clock::time_point next_try_{};  // while it is not
  std::chrono::steady_clock::time_point next_tidy_{};
  std::int64_t last_given_ = 0;                    // id of an entry not yet in the database
  std::map<std::int64_t, std::int64_t> recorded_;  // the id it was given -> its number there
  std::thread thread_;
};

}  // namespace acrf
