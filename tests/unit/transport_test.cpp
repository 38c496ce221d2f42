// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/transport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "random.h"

namespace acrf {
namespace {

struct Case {
  std::vector<int> wanted, room;
  std::vector<std::vector<std::int64_t>> cost;
};

Case random_case(Random& random) {
  Case made;
  const int columns = 1 + random.below(5);
  for (int c = 0; c < columns; ++c) made.room.push_back(random.below(4));
  for (int r = 1 + random.below(4); r > 0; --r) {
    made.wanted.push_back(random.below(3));
    made.cost.emplace_back();
    for (int c = 0; c < columns; ++c) made.cost.back().push_back(random.below(20));
  }
  return made;
}

std::int64_t brute_force(Case& c, std::size_t row) {
  while (row < c.wanted.size() && c.wanted[row] == 0) ++row;
  if (row == c.wanted.size()) return 0;
  std::int64_t least = INT64_MAX;
  --c.wanted[row];
  for (std::size_t column = 0; column < c.room.size(); ++column) {
    if (c.room[column] == 0) continue;
    --c.room[column];
    const auto rest = brute_force(c, row);
    if (rest != INT64_MAX) least = std::min(least, rest + c.cost[row][column]);
    ++c.room[column];
  }
  ++c.wanted[row];
  return least;
}

// Prices prove the answer: every unit is in a column that is cheapest for it at these prices, and
// only full columns have a price.
void expect_proven(const Case& c, const TransportAnswer& answer) {
  for (std::size_t column = 0; column < c.room.size(); ++column) {
    int used = 0;
    for (const auto& units : answer.units) used += units[column];
    EXPECT_LE(used, c.room[column]);
    EXPECT_GE(answer.price[column], 0);
    if (used < c.room[column]) {
      EXPECT_EQ(answer.price[column], 0);
    }
  }
  for (std::size_t row = 0; row < c.wanted.size(); ++row) {
    std::int64_t least = INT64_MAX;
    for (std::size_t column = 0; column < c.room.size(); ++column)
      least = std::min(least, c.cost[row][column] + answer.price[column]);
    for (std::size_t column = 0; column < c.room.size(); ++column)
      if (answer.units[row][column] > 0) {
        EXPECT_EQ(c.cost[row][column] + answer.price[column], least);
      }
  }
}

TEST(Transport, IsTheBestOfAllAssignmentsAndProvesIt) {
  Random random(1);
  int solved = 0;
  for (int round = 0; round < 4000; ++round) {
    auto c = random_case(random);
    const auto answer = transport(c.wanted, c.room, c.cost);
    const auto least = brute_force(c, 0);
    ASSERT_EQ(answer.has_value(), least != INT64_MAX);
    if (!answer) continue;
    ++solved;
    std::int64_t cost = 0;
    for (std::size_t row = 0; row < c.wanted.size(); ++row) {
      const auto& units = answer->units[row];
      EXPECT_EQ(std::accumulate(units.begin(), units.end(), 0), c.wanted[row]);
      for (std::size_t column = 0; column < units.size(); ++column)
        cost += units[column] * c.cost[row][column];
    }
    EXPECT_EQ(cost, least);
    expect_proven(c, *answer);
  }
  EXPECT_GT(solved, 2000);
}

}  // namespace
}  // namespace acrf
