// SPDX-License-Identifier: GPL-2.0-or-later
// The transportation problem: rows want whole units, columns have room for some, and a unit of a
// row costs differently in each column. Units enter one by one along the cheapest chain of moves
// (Dijkstra over columns with prices), which keeps every step optimal and ends with the prices that
// prove it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace acrf {

struct TransportAnswer {
  std::vector<std::vector<int>> units;  // by row, by column
  std::vector<std::int64_t> price;      // of a unit of room, by column; 0 where room is left
};

// std::nullopt: less room than wanted. O(units * rows * columns).
std::optional<TransportAnswer> transport(const std::vector<int>& wanted,
                                         const std::vector<int>& room,
                                         const std::vector<std::vector<std::int64_t>>& cost);

}  // namespace acrf
