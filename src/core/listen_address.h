// SPDX-License-Identifier: GPL-2.0-or-later
// Where a server listens: "127.0.0.1:6822", "[::1]:6822", "localhost:6822".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace acrf {

struct ListenAddress {
  std::string host;
  int port = 0;
};

// Nothing: it is not ADDRESS:PORT. A port alone is refused: it would mean every address.
std::optional<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace acrf
