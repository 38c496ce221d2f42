// SPDX-License-Identifier: GPL-2.0-or-later
// SQLite with Result instead of codes. An Error's code says what to do about it: kInvalid, the file
// is damaged or not what it should be; kUnavailable, another process has it locked; kSystem, the
// disk is full, read-only or broken.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"

namespace acrf::sqlite {

class Statement {
 public:
  // Texts are copied. Parameters count from 1.
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind_bytes(int parameter, std::string_view bytes);

  // True: there is a row. False: the end. After an end or an Error the statement may run again.
  Result<bool> step();
  // For statements without rows.
  Status run();

  // Columns count from 0.
  std::int64_t number(int column) const;
  std::string text(int column) const;

 private:
  friend class Database;
  Statement(sqlite3* database, sqlite3_stmt* statement)
      : database_(database), statement_(statement, &sqlite3_finalize) {}
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement_;
};

class Database {
 public:
  // The file must exist. A call that meets another process's lock waits for `patience_ms`.
  static Result<Database> open(const std::string& path, bool writable, int patience_ms);

  Status execute(const char* sql);
  Result<Statement> prepare(std::string_view sql);
  // The first column of the first row; 0 where there is none.
  Result<std::int64_t> number(std::string_view sql);

  std::int64_t last_row() const { return sqlite3_last_insert_rowid(handle_.get()); }
  int changes() const { return sqlite3_changes(handle_.get()); }

 private:
  explicit Database(sqlite3* handle) : handle_(handle, &sqlite3_close_v2) {}
  std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)> handle_;
};

}  // namespace acrf::sqlite
