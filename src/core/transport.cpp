// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/transport.h"

#include <algorithm>
#include <numeric>

namespace acrf {

namespace {

constexpr std::int64_t kFar = INT64_MAX / 4;

// Invariant: a row's units are all in columns where cost plus price is the row's least, and columns
// with room left have price 0.
class Transport {
 public:
  Transport(const std::vector<int>& room, const std::vector<std::vector<std::int64_t>>& cost)
      : rows_(cost.size()), columns_(room.size()), cost_(cost), left_(room) {
    answer_.units.assign(rows_, std::vector<int>(columns_));
    answer_.price.assign(columns_, 0);
    for (const auto& row : cost_) least_.push_back(*std::min_element(row.begin(), row.end()));
  }

  void add_unit(std::size_t row);
  TransportAnswer answer() && { return std::move(answer_); }

 private:
  void reach_row(std::size_t row, std::int64_t distance);
  std::size_t nearest() const;
  void raise_prices(std::int64_t limit);
  void move_units(std::size_t column, std::size_t source);

  std::size_t rows_, columns_;
  const std::vector<std::vector<std::int64_t>>& cost_;
  std::vector<int> left_;
  std::vector<std::int64_t> least_;  // by row: cost plus price of its best column
  TransportAnswer answer_;
  // Of the search that is under way.
  std::vector<std::int64_t> to_column_, to_row_;
  std::vector<std::size_t> row_before_, column_before_;
  std::vector<bool> done_;
};

void Transport::reach_row(std::size_t row, std::int64_t distance) {
  to_row_[row] = distance;
  for (std::size_t c = 0; c < columns_; ++c) {
    const std::int64_t way = distance + cost_[row][c] + answer_.price[c] - least_[row];
    if (way >= to_column_[c]) continue;
    to_column_[c] = way;
    row_before_[c] = row;
  }
}

std::size_t Transport::nearest() const {
  std::size_t best = columns_;
  for (std::size_t c = 0; c < columns_; ++c)
    if (!done_[c] && (best == columns_ || to_column_[c] < to_column_[best])) best = c;
  return best;
}

void Transport::raise_prices(std::int64_t limit) {
  for (std::size_t c = 0; c < columns_; ++c)
    answer_.price[c] += std::max<std::int64_t>(0, limit - to_column_[c]);
  for (std::size_t r = 0; r < rows_; ++r)
    least_[r] += std::max<std::int64_t>(0, limit - to_row_[r]);
}

// Along the way that was found, from its end: every row on it moves one unit.
void Transport::move_units(std::size_t column, std::size_t source) {
  --left_[column];
  for (;;) {
    const std::size_t row = row_before_[column];
    ++answer_.units[row][column];
    if (row == source) return;
    column = column_before_[row];
    --answer_.units[row][column];
  }
}

void Transport::add_unit(std::size_t row) {
  to_column_.assign(columns_, kFar);
  to_row_.assign(rows_, kFar);
  row_before_.assign(columns_, 0);
  column_before_.assign(rows_, 0);
  done_.assign(columns_, false);
  reach_row(row, 0);
  for (;;) {
    const std::size_t column = nearest();
    const std::int64_t distance = to_column_[column];
    if (left_[column] > 0) {
      raise_prices(distance);
      return move_units(column, row);
    }
    done_[column] = true;
    for (std::size_t r = 0; r < rows_; ++r) {
      if (answer_.units[r][column] == 0 || to_row_[r] <= distance) continue;
      column_before_[r] = column;
      reach_row(r, distance);
    }
  }
}

}  // namespace

std::optional<TransportAnswer> transport(const std::vector<int>& wanted,
                                         const std::vector<int>& room,
                                         const std::vector<std::vector<std::int64_t>>& cost) {
  if (std::accumulate(wanted.begin(), wanted.end(), std::int64_t{0}) >
      std::accumulate(room.begin(), room.end(), std::int64_t{0}))
    return std::nullopt;
  Transport units(room, cost);
  for (std::size_t row = 0; row < wanted.size(); ++row)
    for (int i = 0; i < wanted[row]; ++i) units.add_unit(row);
  return std::move(units).answer();
}

}  // namespace acrf
