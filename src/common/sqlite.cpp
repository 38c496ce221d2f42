// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/sqlite.h"

namespace acrf::sqlite {
namespace {

ErrorCode code_of(int code) {
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_SCHEMA:
    case SQLITE_ERROR: return ErrorCode::kInvalid;  // "no such table": a stranger's database
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ErrorCode::kUnavailable;
    default: return ErrorCode::kSystem;
  }
}

Error last_error(sqlite3* database) {
  return {code_of(sqlite3_extended_errcode(database)), sqlite3_errmsg(database)};
}

}  // namespace

Statement& Statement::bind(int parameter, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), parameter, value);
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), parameter, text.data(), text.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_bytes(int parameter, std::string_view bytes) {
  sqlite3_bind_blob64(statement_.get(), parameter, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_.get());
    return false;
  }
  const Error error = last_error(database_);
  sqlite3_reset(statement_.get());
  return error;
}

Status Statement::run() {
  while (true) {
    const auto row = step();
    if (!row) return row.error();
    if (!*row) return Done{};
  }
}

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* bytes = sqlite3_column_blob(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return bytes ? std::string(static_cast<const char*>(bytes), size) : std::string();
}

Result<Database> Database::open(const std::string& path, bool writable, int patience_ms) {
  const int flags = (writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) |
                    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  Database database(handle);  // SQLite makes a handle even when it cannot open
  if (code != SQLITE_OK)
    return Error{code_of(code), handle ? sqlite3_errmsg(handle) : "SQLite has no memory"};
  sqlite3_busy_timeout(handle, patience_ms);
  return database;
}

Status Database::execute(const char* sql) {
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return last_error(handle_.get());
  return Done{};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement,
                         nullptr) != SQLITE_OK)
    return last_error(handle_.get());
  return Statement(handle_.get(), statement);
}

Result<std::int64_t> Database::number(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  const auto row = statement->step();
  if (!row) return row.error();
  return *row ? statement->number(0) : std::int64_t{0};
}

}  // namespace acrf::sqlite
