// SPDX-License-Identifier: GPL-2.0-or-later
// Who may read or act with a token. The file keeps hashes: a token is shown once, when it is made.
// It is 256 random bits, so that a plain hash of it cannot be searched.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace acrf::hub {

enum class Role { kNone, kRead, kAdmin };

std::string_view name_of(Role role);
std::optional<Role> parse_role(std::string_view name);  // read or admin

struct Token {
  std::string name;
  Role role = Role::kNone;
  std::string sha256;               // of the secret, in hexadecimal digits
  std::int64_t expires_unix_s = 0;  // 0: never
};

// A line is "name role sha256 expiry"; the expiry is a time such as 2026-12-31T00:00:00Z, or
// "never". An Error opens with "origin:line:".
Result<std::vector<Token>> parse_tokens(std::string_view text, std::string_view origin);
std::string to_line(const Token& token);

// The tokens of a file, which is read again whenever it has changed. Thread-safe.
class TokenFile {
 public:
  explicit TokenFile(std::string path) : path_(std::move(path)) {}

  // Checks what is there now; a file that is not there holds no tokens. Refused: a file that
  // others than its owner may write.
  Status check();

  // The token of this secret; nothing: there is none, or it has expired. Takes as long for any
  // wrong secret.
  std::optional<Token> find(std::string_view secret, std::int64_t now_unix_s);

 private:
  Status load();

  const std::string path_;
  std::mutex mutex_;
  std::vector<Token> tokens_;
  timespec read_at_{};  // the file's time of change when it was read
  off_t read_size_ = -1;
};

// Makes a token and adds it to the file; the secret. kInvalid: the name is taken or no word.
Result<std::string> add_token(const std::string& path, const std::string& name, Role role,
                              std::int64_t expires_unix_s);

}  // namespace acrf::hub
