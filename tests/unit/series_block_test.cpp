// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/series_block.h"

#include <gtest/gtest.h>

#include "core/rollup.h"

namespace acrf {
namespace {

TEST(SeriesBlock, GivesBackWhatWasPutIn) {
  SeriesBlock block(3);
  std::vector<SeriesRow> rows = {{1'700'000'000'000, {61, kNoNumber, 0}},
                                 {1'700'000'005'001, {61, 70, 0}},
                                 {1'700'000'004'000, {-5, kNoNumber, 2'147'483'647}}};
  for (const auto& row : rows) block.append(row.ms, row.numbers);
  const auto read = read_series(block.bytes());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, rows);
}

TEST(SeriesBlock, GoesOnAfterTheBytesOfAnotherLife) {
  SeriesBlock first(2), whole(2);
  std::vector<std::int32_t> numbers = {1, 2};
  whole.append(10, numbers);
  first.append(10, numbers);
  auto second = SeriesBlock::resume(first.bytes());
  ASSERT_TRUE(second.ok());
  numbers = {1, 3};
  const std::string grown(whole.append(20, numbers));
  EXPECT_TRUE(second->extend(grown).ok());
  numbers = {7, 3};
  whole.append(30, numbers);
  second->append(30, numbers);
  EXPECT_EQ(second->bytes(), whole.bytes());
}

TEST(SeriesBlock, ARowThatChangesNothingTakesAFewBytes) {
  SeriesBlock block(64);
  const std::vector<std::int32_t> numbers(64, 40);
  block.append(1'700'000'000'000, numbers);
  EXPECT_LE(block.append(1'700'000'005'000, numbers).size(), 11u);
}

TEST(SeriesBlock, DamagedBytesAreAnError) {
  SeriesBlock block(8);
  block.append(5, std::vector<std::int32_t>(8, 1000));
  block.append(6, std::vector<std::int32_t>(8, -1000));
  for (std::size_t cut = 0; cut < block.bytes().size(); ++cut) {
    const auto read = read_series(block.bytes().substr(0, cut));  // must not read beyond the end
    if (read) {
      EXPECT_LE(read->size(), 1u);
    }
  }
  EXPECT_FALSE(read_series(std::string(20, '\xff')).ok());
}

TEST(Rollup, KeepsLeastMeanAndGreatestOfEachMinute) {
  const std::vector<SeriesRow> rows = {{60'000, {10, kNoNumber}},
                                       {90'000, {21, 5}},
                                       {119'999, {30, kNoNumber}},
                                       {120'000, {kNoNumber, 7}}};
  const std::vector<SeriesRow> minutes = {
      {60'000, {10, 203, 30, 5, 50, 5}}, {120'000, {kNoNumber, kNoNumber, kNoNumber, 7, 70, 7}}};
  EXPECT_EQ(roll_up(rows, 60'000), minutes);
  const std::vector<SeriesRow> hour = {{0, {10, 203, 30, 5, 60, 7}}};
  EXPECT_EQ(roll_up_again(minutes, 3'600'000), hour);
}

}  // namespace
}  // namespace acrf
