// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/history_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "common/file.h"
#include "common/unique_fd.h"

namespace acrf::hub {
namespace {

constexpr int kVersion = 2;
constexpr int kTrimStep = 5000;
constexpr std::int64_t kDay_ms = 86'400'000;
constexpr std::int64_t kForgetStreams_ms = 30 * kDay_ms;

constexpr char kSettings[] =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=4000;"
    "PRAGMA cache_size=-32768; PRAGMA journal_size_limit=67108864;";
constexpr char kSchema[] =
    "PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL;"
    "BEGIN;"
    "CREATE TABLE node(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE stream(node INTEGER, stream TEXT, seq INTEGER NOT NULL, time_ms INTEGER NOT NULL,"
    " PRIMARY KEY(node, stream)) WITHOUT ROWID;"
    "CREATE TABLE journal(id INTEGER PRIMARY KEY AUTOINCREMENT, data BLOB NOT NULL);"
    "CREATE TABLE raw(id INTEGER PRIMARY KEY, node INTEGER, begin_ms INTEGER, data BLOB);"
    "CREATE INDEX raw_of_node ON raw(node, begin_ms);"
    "CREATE INDEX raw_by_time ON raw(begin_ms);"
    "CREATE TABLE minute(id INTEGER PRIMARY KEY, node INTEGER, begin_ms INTEGER, data BLOB);"
    "CREATE INDEX minute_of_node ON minute(node, begin_ms);"
    "CREATE INDEX minute_by_time ON minute(begin_ms);"
    "CREATE TABLE hour(node INTEGER, begin_ms INTEGER, data BLOB, PRIMARY KEY(node, begin_ms));"
    "CREATE INDEX hour_by_time ON hour(begin_ms);"
    "CREATE TABLE incident(id TEXT PRIMARY KEY, node TEXT, class TEXT, opened_ms INTEGER,"
    " updated_ms INTEGER, closed_ms INTEGER, driver TEXT, data TEXT NOT NULL);"
    "CREATE INDEX incident_by_time ON incident(opened_ms);"
    "CREATE INDEX incident_of_node ON incident(node, opened_ms);"
    "CREATE TABLE audit(row INTEGER PRIMARY KEY, node TEXT, id INTEGER, time_ms INTEGER,"
    " incident TEXT, data TEXT NOT NULL, UNIQUE(node, id));"
    "CREATE INDEX audit_by_time ON audit(time_ms);"
    "CREATE INDEX audit_of_incident ON audit(incident);"
    "PRAGMA user_version=1; COMMIT;";
// Numbers alone do not tell entries apart: a node that lost its audit log counts from 1 again, and
// what a hub did to a node stands under the node's name with the hub's number. The time is the
// entry's beginning, which its end does not change.
constexpr char kToVersion2[] =
    "BEGIN;"
    "ALTER TABLE audit RENAME TO old_audit;"
    "CREATE TABLE audit(row INTEGER PRIMARY KEY, node TEXT, id INTEGER, time_ms INTEGER,"
    " incident TEXT, data TEXT NOT NULL, UNIQUE(node, id, time_ms));"
    "INSERT INTO audit SELECT row, node, id, time_ms, incident, data FROM old_audit;"
    "DROP TABLE old_audit;"
    "CREATE INDEX audit_by_time ON audit(time_ms);"
    "CREATE INDEX audit_of_incident ON audit(incident);"
    "PRAGMA user_version=2; COMMIT;";

Status make_place(const std::string& path) {
  const auto directory = std::filesystem::path(path).parent_path();
  std::error_code error;
  std::filesystem::create_directories(directory.parent_path(), error);
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error("create " + directory.string());
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return system_error("create " + path);
  return Done{};
}

Error with_path(const std::string& path, const Error& error) {
  return {error.code, path + ": " + error.sentence};
}

Status make_tables(sqlite::Database& database, std::int64_t version) {
  if (version < 1)
    if (const auto made = database.execute(kSchema); !made) return made;
  if (version < 2) return database.execute(kToVersion2);
  return Done{};
}

}  // namespace

Result<HistoryFile> HistoryFile::open(const std::string& path) {
  if (const auto made = make_place(path); !made) return made.error();
  auto database = sqlite::Database::open(path, true, 5000);
  if (!database) return with_path(path, database.error());
  const auto version = database->number("PRAGMA user_version");
  if (!version) return with_path(path, version.error());
  if (*version > kVersion)
    return Error{ErrorCode::kDenied, path + ": was written by a newer version of ACRF"};
  if (const auto made = make_tables(*database, *version); !made)
    return with_path(path, made.error());
  if (const auto set = database->execute(kSettings); !set) return with_path(path, set.error());
  return HistoryFile(std::move(*database));
}

Result<Kept> HistoryFile::load(std::int64_t now_ms) {
  Kept kept;
  const auto each = [&](std::string_view sql, std::int64_t parameter, auto take) -> Status {
    auto rows = database_.prepare(sql);
    if (!rows) return rows.error();
    rows->bind(1, parameter);
    while (true) {
      const auto row = rows->step();
      if (!row) return row.error();
      if (!*row) return Done{};
      take(*rows);
    }
  };
  Status done = each("SELECT id, name FROM node WHERE id>=?1", 0, [&](const auto& row) {
    kept.nodes[row.text(1)] = static_cast<int>(row.number(0));
  });
  if (done)
    done = each("SELECT node, stream, seq FROM stream WHERE time_ms>=?1",
                now_ms - kForgetStreams_ms, [&](const auto& row) {
                  kept.streams[{static_cast<int>(row.number(0)), row.text(1)}] =
                      static_cast<std::uint64_t>(row.number(2));
                });
  const auto hour = now_ms - now_ms % kHour_ms;
  if (done)
    done = each("SELECT DISTINCT node, begin_ms - begin_ms % 3600000 FROM minute WHERE begin_ms>=?1",
                hour - 2 * kHour_ms, [&](const auto& row) {
                  kept.hours.insert({static_cast<int>(row.number(0)), row.number(1)});
                });
  if (!done) return done.error();
  return kept;
}

Status HistoryFile::for_each_journal(
    const std::function<Status(std::int64_t, std::string_view)>& take) {
  auto rows = database_.prepare("SELECT id, data FROM journal ORDER BY id");
  if (!rows) return rows.error();
  while (true) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return Done{};
    if (const auto taken = take(rows->number(0), rows->text(1)); !taken) return taken;
  }
}

Result<std::vector<ReportedIncident>> HistoryFile::incidents(std::size_t newest) {
  auto rows = database_.prepare(
      "SELECT id, node, class, opened_ms, updated_ms, closed_ms, driver, data FROM incident"
      " WHERE closed_ms=0 OR opened_ms>=(SELECT coalesce(min(opened_ms), 0) FROM"
      " (SELECT opened_ms FROM incident ORDER BY opened_ms DESC LIMIT ?1)) ORDER BY opened_ms");
  if (!rows) return rows.error();
  rows->bind(1, static_cast<std::int64_t>(newest));
  std::vector<ReportedIncident> all;
  while (true) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return all;
    ReportedIncident one;
    one.id = rows->text(0);
    one.node = rows->text(1);
    one.fault_class = rows->text(2);
    one.opened_ms = rows->number(3);
    one.updated_ms = rows->number(4);
    one.closed_ms = rows->number(5);
    one.driver = rows->text(6);
    one.json = rows->text(7);
    all.push_back(std::move(one));
  }
}

Result<std::int64_t> HistoryFile::commit(const Batch& batch, std::int64_t now_ms) {
  if (const auto begun = database_.execute("BEGIN IMMEDIATE"); !begun) return begun.error();
  std::int64_t row = 0;
  Status done = write(batch, now_ms, row);
  if (done) done = database_.execute("COMMIT");
  if (done) return row;
  (void)database_.execute("ROLLBACK");  // what failed may have done so already
  return done.error();
}

Status HistoryFile::write(const Batch& batch, std::int64_t now_ms, std::int64_t& row) {
  auto node = database_.prepare("INSERT INTO node(id, name) VALUES(?1, ?2) ON CONFLICT DO NOTHING");
  if (!node) return node.error();
  for (const auto& [id, name] : batch.nodes)
    if (const auto added = node->bind(1, id).bind(2, name).run(); !added) return added;
  if (const auto written = write_sealed(batch); !written) return written;
  if (const auto written = write_records(batch); !written) return written;
  auto stream = database_.prepare(
      "INSERT INTO stream VALUES(?1, ?2, ?3, ?4)"
      " ON CONFLICT DO UPDATE SET seq=excluded.seq, time_ms=excluded.time_ms");
  if (!stream) return stream.error();
  for (const auto& [key, seq] : batch.streams) {
    stream->bind(1, key.first).bind(2, key.second).bind(3, static_cast<std::int64_t>(seq));
    if (const auto added = stream->bind(4, now_ms).run(); !added) return added;
  }
  if (batch.journal.empty()) return Done{};
  auto journal = database_.prepare("INSERT INTO journal(data) VALUES(?1)");
  if (!journal) return journal.error();
  const auto added = journal->bind_bytes(1, batch.journal).run();
  row = database_.last_row();
  return added;
}

Status HistoryFile::write_sealed(const Batch& batch) {
  for (const bool raw : {true, false}) {
    auto insert = database_.prepare(
        raw ? "INSERT INTO raw(node, begin_ms, data) VALUES(?1, ?2, ?3)"
            : "INSERT INTO minute(node, begin_ms, data) VALUES(?1, ?2, ?3)");
    if (!insert) return insert.error();
    for (const auto& block : batch.sealed) {
      insert->bind(1, block.node).bind(2, block.begin_ms);
      insert->bind_bytes(3, raw ? block.raw : block.minutes);
      if (const auto added = insert->run(); !added) return added;
    }
  }
  return Done{};
}

Status HistoryFile::write_records(const Batch& batch) {
  auto incident = database_.prepare(
      "INSERT INTO incident VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT(id) DO UPDATE SET"
      " class=excluded.class, updated_ms=excluded.updated_ms, closed_ms=excluded.closed_ms,"
      " data=excluded.data WHERE incident.node=excluded.node");
  if (!incident) return incident.error();
  for (const auto& one : batch.incidents) {
    incident->bind(1, one.id).bind(2, one.node).bind(3, one.fault_class).bind(4, one.opened_ms);
    incident->bind(5, one.updated_ms).bind(6, one.closed_ms).bind(7, one.driver);
    if (const auto added = incident->bind(8, one.json).run(); !added) return added;
  }
  auto audit = database_.prepare(
      "INSERT INTO audit(node, id, time_ms, incident, data) VALUES(?1, ?2, ?3, ?4, ?5)"
      " ON CONFLICT(node, id, time_ms) DO UPDATE SET data=excluded.data");
  if (!audit) return audit.error();
  for (const auto& one : batch.audit) {
    audit->bind(1, one.node).bind(2, one.audit.id).bind(3, one.audit.unix_ms);
    if (const auto added = audit->bind(4, one.audit.incident).bind(5, one.audit.json).run(); !added)
      return added;
  }
  return Done{};
}

Status HistoryFile::trim_journal(std::int64_t before_row) {
  auto remove = database_.prepare("DELETE FROM journal WHERE id<?1");
  if (!remove) return remove.error();
  return remove->bind(1, before_row).run();
}

Status HistoryFile::roll_up_hour(int node, std::int64_t begin_ms) {
  auto rows = database_.prepare(
      "SELECT data FROM minute WHERE node=?1 AND begin_ms>=?2 AND begin_ms<?3 ORDER BY begin_ms");
  if (!rows) return rows.error();
  rows->bind(1, node).bind(2, begin_ms).bind(3, begin_ms + kHour_ms);
  std::vector<SeriesRow> minutes;
  while (true) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) break;
    if (auto some = read_series(rows->text(0)))
      minutes.insert(minutes.end(), some->begin(), some->end());
  }
  const auto hours = roll_up_again(minutes, kHour_ms);
  if (hours.empty()) return Done{};
  SeriesBlock block(hours.front().numbers.size());
  block.append(hours.front().ms, hours.front().numbers);
  auto insert = database_.prepare("INSERT OR REPLACE INTO hour VALUES(?1, ?2, ?3)");
  if (!insert) return insert.error();
  return insert->bind(1, node).bind(2, begin_ms).bind_bytes(3, block.bytes()).run();
}

Result<bool> HistoryFile::trim(const Retention& retention, std::int64_t now_ms) {
  const std::pair<const char*, std::int64_t> limits[] = {
      {"DELETE FROM raw WHERE id IN (SELECT id FROM raw WHERE begin_ms<?1 LIMIT ?2)",
       retention.raw_hours * kHour_ms + kBlock_ms},
      {"DELETE FROM minute WHERE id IN (SELECT id FROM minute WHERE begin_ms<?1 LIMIT ?2)",
       retention.minute_days * kDay_ms + kBlock_ms},
      {"DELETE FROM hour WHERE rowid IN (SELECT rowid FROM hour WHERE begin_ms<?1 LIMIT ?2)",
       retention.hour_days * kDay_ms + kHour_ms},
      {"DELETE FROM incident WHERE rowid IN (SELECT rowid FROM incident WHERE opened_ms<?1"
       " AND closed_ms<>0 LIMIT ?2)",
       retention.incident_days * kDay_ms},
      {"DELETE FROM audit WHERE row IN (SELECT row FROM audit WHERE time_ms<?1 LIMIT ?2)",
       retention.incident_days * kDay_ms},
      {"DELETE FROM stream WHERE time_ms<?1 AND ?2", kForgetStreams_ms},
  };
  bool more = false;
  for (const auto& [sql, age_ms] : limits) {
    auto remove = database_.prepare(sql);
    if (!remove) return remove.error();
    if (const auto done = remove->bind(1, now_ms - age_ms).bind(2, kTrimStep).run(); !done)
      return done.error();
    more |= database_.changes() >= kTrimStep;
  }
  if (const auto shrunk = database_.execute("PRAGMA incremental_vacuum(512)"); !shrunk)
    return shrunk.error();
  return more;
}

}  // namespace acrf::hub
