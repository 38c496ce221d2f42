// SPDX-License-Identifier: GPL-2.0-or-later
// How two acrf-healthds get to know each other: each shows a munge credential of its own user for
// this pair of nodes and this connection. After that a connection is trusted as it stands, so that
// asking every second costs no more credentials.
#pragma once

#include <optional>
#include <string>

#include "common/munge.h"

namespace acrf {

// "acrf-peer 1 CREDENTIAL" of "hello FROM TO NONCE".
Result<std::string> hello(const Seals& seals, const std::string& from, const std::string& to,
                          const std::string& nonce);

struct Hello {
  std::string from, nonce;
};
// What a hello to the node `to` says; an Error says why it is none.
Result<Hello> read_hello(const Seals& seals, const std::string& line, const std::string& to);

// "welcome CREDENTIAL" of "here TO FROM NONCE".
Result<std::string> welcome(const Seals& seals, const std::string& self, const Hello& hello);
// Whether the line is the answer of `to` to this nonce of `from`.
bool is_welcome(const Seals& seals, const std::string& line, const std::string& from,
                const std::string& to, const std::string& nonce);

}  // namespace acrf
