// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/audit_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "common/file.h"
#include "common/unique_fd.h"
#include "core/text.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;
constexpr int kPatienceMs = 2000;
constexpr std::int64_t kTrimStep = 100;
constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::size_t kMostSetAside = 3;
constexpr char kBadMark[] = ".bad-";

// Two processes may come here together, so all of it may be there already. auto_vacuum comes before
// the first table, or it does nothing.
constexpr char kSchema[] =
    "PRAGMA auto_vacuum=INCREMENTAL;"
    "PRAGMA journal_mode=WAL;"
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS entry(id INTEGER PRIMARY KEY AUTOINCREMENT, time_ms INTEGER NOT "
    "NULL,"
    " node TEXT NOT NULL, incident TEXT NOT NULL, kind TEXT NOT NULL, what TEXT NOT NULL,"
    " subject TEXT NOT NULL, decided_by TEXT NOT NULL, mode TEXT NOT NULL, evidence TEXT NOT NULL,"
    " undo TEXT NOT NULL, result TEXT NOT NULL, sentence TEXT NOT NULL,"
    " finished_ms INTEGER NOT NULL, undone_by INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS entry_incident ON entry(incident);"
    "CREATE INDEX IF NOT EXISTS entry_time ON entry(time_ms);"
    "CREATE INDEX IF NOT EXISTS entry_pending ON entry(id) WHERE result='pending';"
    "PRAGMA user_version=1;"
    "COMMIT;";

// Small, because a daemon on every node pays for it.
constexpr char kWriterSettings[] =
    "PRAGMA synchronous=FULL;"
    "PRAGMA cache_size=-128;"
    "PRAGMA wal_autocheckpoint=128;"
    "PRAGMA journal_size_limit=1048576;"
    "PRAGMA cell_size_check=ON;"
    "PRAGMA trusted_schema=OFF;";

constexpr char kColumns[] =
    "id, time_ms, node, incident, kind, what, subject, decided_by, mode, evidence, undo, result,"
    " sentence, finished_ms, undone_by";

Error with_path(const std::string& path, const Error& error) {
  return {error.code, path + ": " + error.sentence};
}

// A directory where others may write is one where they may put a file of theirs in our way.
Status make_directory(const std::string& path) {
  const auto directory = fs::path(path).parent_path();
  std::error_code error;
  if (!fs::exists(directory, error)) {
    fs::create_directories(directory.parent_path(), error);
    if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
      return system_error("create " + directory.string());
  }
  struct stat status;
  if (::stat(directory.c_str(), &status) != 0) return system_error("look at " + directory.string());
  if ((status.st_uid != 0 && status.st_uid != ::geteuid()) || (status.st_mode & 022) != 0)
    return Error{ErrorCode::kDenied, directory.string() + ": others may write in this directory"};
  return Done{};
}

// The file as it is found or made, never through a link.
Result<struct stat> make_file(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd && errno != EEXIST) return system_error("create " + path);
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0) return system_error("look at " + path);
  if (!S_ISREG(status.st_mode)) return Error{ErrorCode::kInvalid, path + ": is no file"};
  if ((status.st_mode & 077) != 0 && ::chmod(path.c_str(), 0600) != 0)
    return system_error("chmod " + path);
  return status;
}

// quick_check reads the whole file; a page that is damaged now would be met in a month.
Status check_whole(sqlite::Database& database) {
  auto check = database.prepare("PRAGMA quick_check(1)");
  if (!check) return check.error();
  const auto row = check->step();
  if (!row) return row.error();
  const auto said = check->text(0);
  if (said != "ok") return Error{ErrorCode::kInvalid, said};
  return Done{};
}

// Numbers are not given twice, even when a damaged file was set aside in between.
Status make_tables(sqlite::Database& database, std::int64_t after_id) {
  if (const auto made = database.execute(kSchema); !made) return made;
  auto seed = database.prepare(
      "INSERT INTO sqlite_sequence(name, seq) SELECT 'entry', ?1"
      " WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence)");
  if (!seed) return seed.error();
  seed->bind(1, after_id);
  return seed->run();
}

Status make_ready(sqlite::Database& database, std::int64_t after_id) {
  const auto version = database.number("PRAGMA user_version");
  if (!version) return version.error();
  if (*version > kVersion)
    return Error{ErrorCode::kDenied, "was written by a newer version of ACRF"};
  if (*version == 0)
    if (const auto made = make_tables(database, after_id); !made) return made;
  if (const auto set = database.execute(kWriterSettings); !set) return set.error();
  return check_whole(database);
}

AuditRecord record_at(const sqlite::Statement& row) {
  AuditRecord record;
  record.id = row.number(0);
  auto& entry = record.entry;
  entry.unix_ms = row.number(1);
  entry.node = row.text(2);
  entry.incident = row.text(3);
  entry.kind = parse_audit_kind(row.text(4)).value_or(AuditKind::kDecision);
  entry.what = row.text(5);
  entry.subject = row.text(6);
  entry.decided_by = row.text(7);
  entry.mode = row.text(8) == mode_name(Mode::kEnforce) ? Mode::kEnforce : Mode::kObserve;
  entry.evidence = row.text(9);
  entry.undo = row.text(10);
  record.result.state = parse_audit_state(row.text(11)).value_or(AuditResult::State::kUnknown);
  record.result.sentence = row.text(12);
  record.finished_unix_ms = row.number(13);
  record.undone_by = row.number(14);
  return record;
}

Result<sqlite::Database> open_to_read(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    if (error) return Error{ErrorCode::kDenied, path + ": " + error.message()};
    return Error{ErrorCode::kNotFound, path + ": nothing has been recorded"};
  }
  auto database = sqlite::Database::open(path, false, kPatienceMs);
  if (!database) return with_path(path, database.error());
  return database;
}

}  // namespace

Result<AuditFile> AuditFile::open(const std::string& path, std::int64_t after_id) {
  if (const auto directory = make_directory(path); !directory) return directory.error();
  const auto file = make_file(path);
  if (!file) return file.error();
  auto database = sqlite::Database::open(path, true, kPatienceMs);
  if (!database) return with_path(path, database.error());
  if (const auto ready = make_ready(*database, after_id); !ready)
    return with_path(path, ready.error());
  return AuditFile(path, std::move(*database), file->st_dev, file->st_ino);
}

Result<std::int64_t> AuditFile::add(const AuditEntry& entry, const AuditResult& result,
                                    std::int64_t now_unix_ms) {
  auto insert = database_.prepare(
      "INSERT INTO entry(time_ms, node, incident, kind, what, subject, decided_by, mode, evidence,"
      " undo, result, sentence, finished_ms, undone_by)"
      " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,0)");
  if (!insert) return with_path(path_, insert.error());
  const bool open = result.state == AuditResult::State::kPending;
  insert->bind(1, entry.unix_ms)
      .bind(2, entry.node)
      .bind(3, entry.incident)
      .bind(4, name_of(entry.kind))
      .bind(5, entry.what)
      .bind(6, entry.subject)
      .bind(7, entry.decided_by)
      .bind(8, mode_name(entry.mode))
      .bind(9, entry.evidence)
      .bind(10, entry.undo)
      .bind(11, name_of(result.state))
      .bind(12, result.sentence)
      .bind(13, open ? 0 : now_unix_ms);
  if (const auto added = insert->run(); !added) return with_path(path_, added.error());
  return database_.last_row();
}

Status AuditFile::finish(std::int64_t id, const AuditResult& result, std::int64_t now_unix_ms) {
  auto update = database_.prepare(
      "UPDATE entry SET result=?2, sentence=?3, finished_ms=?4"
      " WHERE id=?1");
  if (!update) return with_path(path_, update.error());
  update->bind(1, id).bind(2, name_of(result.state)).bind(3, result.sentence).bind(4, now_unix_ms);
  if (const auto updated = update->run(); !updated) return with_path(path_, updated.error());
  if (database_.changes() == 0)
    return Error{ErrorCode::kNotFound, path_ + ": has no entry " + std::to_string(id)};
  return Done{};
}

Status AuditFile::mark_undone(std::int64_t id, std::int64_t undone_by) {
  auto update = database_.prepare("UPDATE entry SET undone_by=?2 WHERE id=?1");
  if (!update) return with_path(path_, update.error());
  update->bind(1, id).bind(2, undone_by);
  if (const auto updated = update->run(); !updated) return with_path(path_, updated.error());
  return Done{};
}

// The id up to which entries go in this step: those that are too old or, when the file is too
// large, the first ones.
Result<std::optional<std::int64_t>> AuditFile::newest_to_remove(const AuditLimits& limits,
                                                                std::int64_t now_unix_ms) {
  const auto oldest_ms = now_unix_ms - std::int64_t{limits.days} * kDayMs;
  const auto pages = database_.number("PRAGMA page_count");
  const auto unused = database_.number("PRAGMA freelist_count");
  const auto page = database_.number("PRAGMA page_size");
  if (!pages || !unused || !page) return !pages ? pages.error() : Error{ErrorCode::kSystem, path_};
  const bool too_large = (*pages - *unused) * *page > std::int64_t{limits.megabytes} * 1'000'000;
  auto pick = database_.prepare(
      "SELECT max(id), count(*) FROM (SELECT id, time_ms FROM entry"
      " ORDER BY id LIMIT ?1) WHERE ?2 OR time_ms < ?3");
  if (!pick) return pick.error();
  pick->bind(1, kTrimStep).bind(2, std::int64_t{too_large}).bind(3, oldest_ms);
  const auto row = pick->step();
  if (!row) return row.error();
  if (!*row || pick->number(1) == 0) return std::optional<std::int64_t>();
  return std::optional<std::int64_t>(pick->number(0));
}

Result<bool> AuditFile::trim(const AuditLimits& limits, std::int64_t now_unix_ms) {
  const auto newest = newest_to_remove(limits, now_unix_ms);
  if (!newest) return with_path(path_, newest.error());
  if (!*newest) return false;
  auto remove = database_.prepare("DELETE FROM entry WHERE id<=?1");
  if (!remove) return with_path(path_, remove.error());
  remove->bind(1, **newest);
  if (const auto removed = remove->run(); !removed) return with_path(path_, removed.error());
  if (const auto shrunk = database_.execute("PRAGMA incremental_vacuum(256)"); !shrunk)
    return with_path(path_, shrunk.error());
  return true;
}

bool AuditFile::is_replaced() const {
  struct stat status;
  return ::lstat(path_.c_str(), &status) != 0 || status.st_dev != device_ ||
         status.st_ino != inode_;
}

Result<std::string> set_aside(const std::string& path, std::int64_t now_unix_s) {
  const std::string bad = path + kBadMark + std::to_string(now_unix_s);
  if (::rename(path.c_str(), bad.c_str()) != 0) return system_error("rename " + path);
  // Under its new name SQLite finds the log beside it again; the index is made anew.
  ::rename((path + "-wal").c_str(), (bad + "-wal").c_str());
  ::unlink((path + "-shm").c_str());
  std::vector<std::string> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path(), error)) {
    const auto name = entry.path().string();
    if (starts_with(name, path + kBadMark) && !name.ends_with("-wal") && !name.ends_with("-shm"))
      all.push_back(name);
  }
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i + kMostSetAside < all.size(); ++i)
    for (const char* suffix : {"", "-wal", "-shm"}) ::unlink((all[i] + suffix).c_str());
  return bad;
}

Result<std::vector<AuditRecord>> find_audit_records(const std::string& path,
                                                    const AuditQuery& query) {
  auto database = open_to_read(path);
  if (!database) return database.error();
  auto select = database->prepare(
      std::string("SELECT ") + kColumns +
      " FROM entry WHERE (?1=0 OR id=?1) AND (?2='' OR node=?2) AND (?3='' OR incident=?3)"
      " AND time_ms>=?4 AND id>?5 AND (NOT ?6 OR result='pending') ORDER BY id " +
      (query.oldest_first ? "ASC" : "DESC") + " LIMIT ?7");
  if (!select) return with_path(path, select.error());
  select->bind(1, query.id)
      .bind(2, query.node)
      .bind(3, query.incident)
      .bind(4, query.since_unix_ms)
      .bind(5, query.after_id)
      .bind(6, std::int64_t{query.pending})
      .bind(7, static_cast<std::int64_t>(query.newest));
  std::vector<AuditRecord> records;
  while (true) {
    const auto row = select->step();
    if (!row) return with_path(path, row.error());
    if (!*row) break;
    records.push_back(record_at(*select));
  }
  if (!query.oldest_first) std::reverse(records.begin(), records.end());
  return records;
}

}  // namespace acrf
