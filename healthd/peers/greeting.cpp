// SPDX-License-Identifier: GPL-2.0-or-later
#include "peers/greeting.h"

#include <unistd.h>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kHello = "acrf-peer 1 ";
constexpr std::string_view kWelcome = "welcome ";

Result<std::string> sealed(const Seals& seals, std::string_view prefix, const std::string& text) {
  auto credential = seals.seal(text);
  if (!credential) return credential.error();
  return std::string(prefix) + std::string(trim(*credential));
}

// The text behind the prefix, sealed by this process's own user.
Result<std::string> opened(const Seals& seals, std::string_view prefix, std::string_view line) {
  if (!take_prefix(line, prefix)) return Error{ErrorCode::kInvalid, "not the expected words"};
  const auto sealed = seals.open(std::string(line));
  if (!sealed) return sealed.error();
  if (sealed->user != ::getuid())
    return Error{ErrorCode::kDenied, "sealed by user " + std::to_string(sealed->user)};
  return sealed->text;
}

}  // namespace

Result<std::string> hello(const Seals& seals, const std::string& from, const std::string& to,
                          const std::string& nonce) {
  return sealed(seals, kHello, "hello " + from + " " + to + " " + nonce);
}

Result<Hello> read_hello(const Seals& seals, const std::string& line, const std::string& to) {
  const auto text = opened(seals, kHello, line);
  if (!text) return text.error();
  const auto words = split(*text, ' ');
  if (words.size() != 4 || words[0] != "hello" || words[2] != to)
    return Error{ErrorCode::kInvalid, "meant for another node"};
  return Hello{std::string(words[1]), std::string(words[3])};
}

Result<std::string> welcome(const Seals& seals, const std::string& self, const Hello& hello) {
  return sealed(seals, kWelcome, "here " + self + " " + hello.from + " " + hello.nonce);
}

bool is_welcome(const Seals& seals, const std::string& line, const std::string& from,
                const std::string& to, const std::string& nonce) {
  const auto text = opened(seals, kWelcome, line);
  return text && *text == "here " + to + " " + from + " " + nonce;
}

}  // namespace acrf
