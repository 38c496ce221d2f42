// SPDX-License-Identifier: GPL-2.0-or-later
// A part of a group of nodes, as a setting gives it: "5%" or a number of nodes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace acrf {

struct Share {
  int value = 0;
  bool percent = false;
  bool operator==(const Share&) const = default;
};

// "0%" to "100%", or a whole number up to a million; nothing for anything else.
std::optional<Share> parse_share(std::string_view text);
std::string to_text(const Share& share);

// How many nodes of `total` that is, rounded down.
int nodes_in(const Share& share, int total);

}  // namespace acrf
