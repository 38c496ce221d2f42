// SPDX-License-Identifier: GPL-2.0-or-later
// The hub's history as the writer sees it: a SQLite file in WAL mode whose commits are synced.
// Tables: node (a number for each name), stream (up to where each node's reports are here), journal
// (samples of the last minutes), raw, minute and hour (series), incident, audit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/sqlite.h"
#include "hub/sample_blocks.h"

namespace acrf::hub {

struct Retention {
  int raw_hours = 24;
  int minute_days = 30;
  int hour_days = 400;
  int incident_days = 365;
};

struct NodeAudit {
  std::string node;
  ReportedAudit audit;
};

// What is written in one transaction.
struct Batch {
  std::vector<std::pair<int, std::string>> nodes;  // new ones, with their numbers
  std::string journal;
  std::vector<SealedBlock> sealed;
  std::vector<ReportedIncident> incidents;
  std::vector<NodeAudit> audit;
  std::map<std::pair<int, std::string>, std::uint64_t> streams;  // node, stream -> seq
  bool is_empty() const {
    return nodes.empty() && journal.empty() && sealed.empty() && incidents.empty() &&
           audit.empty() && streams.empty();
  }
};

// What a hub finds that starts.
struct Kept {
  std::unordered_map<std::string, int> nodes;
  std::map<std::pair<int, std::string>, std::uint64_t> streams;
  std::set<std::pair<int, std::int64_t>> hours;  // node, begin: not yet rolled up, perhaps
};

class HistoryFile {
 public:
  // Creates the file and its directory. kInvalid: what is there is damaged.
  static Result<HistoryFile> open(const std::string& path);

  Result<Kept> load(std::int64_t now_ms);
  // Rows of the journal, oldest first.
  Status for_each_journal(const std::function<Status(std::int64_t row, std::string_view)>& take);
  // Open ones, and the newest.
  Result<std::vector<ReportedIncident>> incidents(std::size_t newest);

  // All or nothing. Gives the row that the journal became.
  Result<std::int64_t> commit(const Batch& batch, std::int64_t now_ms);
  Status trim_journal(std::int64_t before_row);
  // Around several calls that are to cost one commit.
  Status begin() { return database_.execute("BEGIN IMMEDIATE"); }
  Status end() { return database_.execute("COMMIT"); }
  // Makes the hour's row from those of its minutes.
  Status roll_up_hour(int node, std::int64_t begin_ms);
  // Removes some of what is too old. True: there is more.
  Result<bool> trim(const Retention& retention, std::int64_t now_ms);

 private:
  explicit HistoryFile(sqlite::Database database) : database_(std::move(database)) {}
  Status write(const Batch& batch, std::int64_t now_ms, std::int64_t& row);
  Status write_sealed(const Batch& batch);
  Status write_records(const Batch& batch);

  sqlite::Database database_;
};

}  // namespace acrf::hub
