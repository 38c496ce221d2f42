// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/tokens.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <spdlog/spdlog.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "common/file.h"
#include "common/signature.h"
#include "common/unique_fd.h"
#include "core/text.h"
#include "core/zoned_time.h"

namespace acrf::hub {
namespace {

constexpr std::size_t kHashDigits = 64;
constexpr off_t kLongestFile = 1 << 20;

bool is_hash(std::string_view text) {
  return text.size() == kHashDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
             std::string_view::npos;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (const auto word : split(line, ' '))
    if (!trim(word).empty()) words.push_back(trim(word));
  return words;
}

// An Error says what is wrong, not where.
Result<Token> parse_line(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() != 4)
    return Error{ErrorCode::kInvalid, "must be: name role sha256-of-token expiry"};
  const auto role = parse_role(words[1]);
  if (!is_name(words[0])) return Error{ErrorCode::kInvalid, "is no name of a token"};
  if (!role) return Error{ErrorCode::kInvalid, "the role must be read or admin"};
  if (!is_hash(words[2]))
    return Error{ErrorCode::kInvalid, "the hash must be 64 hexadecimal digits"};
  Token token{std::string(words[0]), *role, std::string(words[2]), 0};
  if (words[3] == "never") return token;
  const auto expires = parse_zoned_time(words[3]);
  if (!expires)
    return Error{ErrorCode::kInvalid, "the expiry must be never or " + std::string(kZonedTimeForm)};
  token.expires_unix_s = *expires;
  return token;
}

Result<std::string> new_secret() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return system_error("make a random token");
  return "acrf_" + to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

struct OpenFile {
  UniqueFd fd;
  struct stat status {};
};

// Opened without following links and checked as opened.
Result<OpenFile> open_checked(const std::string& path) {
  OpenFile file{UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))};
  if (!file.fd) {
    if (errno == ENOENT) return Error{ErrorCode::kNotFound, path + " is not there"};
    return system_error("open " + path);
  }
  if (::fstat(file.fd.get(), &file.status) != 0) return system_error("open " + path);
  const bool safe = S_ISREG(file.status.st_mode) && (file.status.st_mode & 022) == 0 &&
                    (file.status.st_uid == 0 || file.status.st_uid == ::getuid());
  if (!safe) return Error{ErrorCode::kDenied, path + " must be a file that only root may write"};
  if (file.status.st_size > kLongestFile)
    return Error{ErrorCode::kInvalid, path + " is too large for a file of tokens"};
  return file;
}

Result<std::string> read_all(const OpenFile& file, const std::string& path) {
  std::string text(static_cast<std::size_t>(file.status.st_size), '\0');
  const auto n = ::read(file.fd.get(), text.data(), text.size());
  if (n < 0) return system_error("read " + path);
  text.resize(static_cast<std::size_t>(n));
  return text;
}

bool is_same(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

std::string_view name_of(Role role) {
  return role == Role::kAdmin ? "admin" : role == Role::kRead ? "read" : "none";
}

std::optional<Role> parse_role(std::string_view name) {
  if (name == "read") return Role::kRead;
  if (name == "admin") return Role::kAdmin;
  return std::nullopt;
}

Result<std::vector<Token>> parse_tokens(std::string_view text, std::string_view origin) {
  std::vector<Token> tokens;
  int number = 0;
  for (const auto raw : split(text, '\n')) {
    ++number;
    const auto line = trim(raw);
    if (line.empty() || line.front() == '#') continue;
    auto token = parse_line(line);
    if (!token)
      return Error{ErrorCode::kInvalid,
                   fmt::format("{}:{}: {}", origin, number, token.error().sentence)};
    tokens.push_back(std::move(*token));
  }
  return tokens;
}

std::string to_line(const Token& token) {
  return fmt::format("{} {} {} {}\n", token.name, name_of(token.role), token.sha256,
                     token.expires_unix_s == 0 ? "never" : to_utc_text(token.expires_unix_s));
}

Status TokenFile::load() {
  const auto file = open_checked(path_);
  if (!file) {
    tokens_.clear();
    read_size_ = -1;
    if (file.error().code == ErrorCode::kNotFound) return Done{};
    return file.error();
  }
  if (file->status.st_size == read_size_ && is_same(file->status.st_mtim, read_at_)) return Done{};
  tokens_.clear();
  read_size_ = file->status.st_size;
  read_at_ = file->status.st_mtim;
  const auto text = read_all(*file, path_);
  if (!text) return text.error();
  auto tokens = parse_tokens(*text, path_);
  if (!tokens) return tokens.error();
  tokens_ = std::move(*tokens);
  return Done{};
}

Status TokenFile::check() {
  const std::lock_guard lock(mutex_);
  return load();
}

std::optional<Token> TokenFile::find(std::string_view secret, std::int64_t now_unix_s) {
  const auto hash = to_hex(sha256(secret));
  const std::lock_guard lock(mutex_);
  if (const auto loaded = load(); !loaded) spdlog::error("{}", loaded.error().sentence);
  std::optional<Token> found;
  for (const auto& token : tokens_) {
    const bool same = CRYPTO_memcmp(token.sha256.data(), hash.data(), kHashDigits) == 0;
    if (same && (token.expires_unix_s == 0 || now_unix_s < token.expires_unix_s)) found = token;
  }
  return found;
}

Result<std::string> add_token(const std::string& path, const std::string& name, Role role,
                              std::int64_t expires_unix_s) {
  if (!is_name(name))
    return Error{ErrorCode::kInvalid, "\"" + name +
                                          "\": a token's name has letters, digits, '.', "
                                          "'_' and '-', 64 at most"};
  std::string text;
  if (const auto file = open_checked(path); file) {
    auto read = read_all(*file, path);
    if (!read) return read.error();
    text = std::move(*read);
  } else if (file.error().code != ErrorCode::kNotFound) {
    return file.error();
  }
  const auto known = parse_tokens(text, path);
  if (!known) return known.error();
  if (std::any_of(known->begin(), known->end(), [&](auto& one) { return one.name == name; }))
    return Error{ErrorCode::kInvalid,
                 path + " has a token " + name + " already: remove its line first"};
  const auto secret = new_secret();
  if (!secret) return secret.error();
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += to_line({name, role, to_hex(sha256(*secret)), expires_unix_s});
  if (const auto written = write_file(path, text, 0600); !written) return written.error();
  return *secret;
}

}  // namespace acrf::hub
