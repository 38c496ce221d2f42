// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/rollup.h"

#include <algorithm>
#include <map>

namespace acrf {
namespace {

struct Sum {
  std::int64_t total = 0;  // in tenths
  std::int64_t count = 0;
  std::int32_t least = kNoNumber, greatest = kNoNumber;

  void add(std::int32_t low, std::int64_t mean_tenths, std::int32_t high) {
    if (low == kNoNumber) return;
    least = count == 0 ? low : std::min(least, low);
    greatest = count == 0 ? high : std::max(greatest, high);
    total += mean_tenths;
    ++count;
  }

  std::int32_t mean_tenths() const {
    if (count == 0) return kNoNumber;
    const auto half = total < 0 ? -count / 2 : count / 2;
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(
        (total + half) / count, -std::numeric_limits<std::int32_t>::max(),
        std::numeric_limits<std::int32_t>::max()));
  }
};

using Spans = std::map<std::int64_t, std::vector<Sum>>;

std::int64_t begin_of(std::int64_t ms, std::int64_t span_ms) { return ms - ms % span_ms; }

std::vector<SeriesRow> rows_of(const Spans& spans) {
  std::vector<SeriesRow> rows;
  for (const auto& [begin, sums] : spans) {
    auto& row = rows.emplace_back();
    row.ms = begin;
    for (const auto& sum : sums)
      row.numbers.insert(row.numbers.end(), {sum.least, sum.mean_tenths(), sum.greatest});
  }
  return rows;
}

}  // namespace

std::vector<SeriesRow> roll_up(const std::vector<SeriesRow>& rows, std::int64_t span_ms) {
  Spans spans;
  for (const auto& row : rows) {
    auto& sums = spans[begin_of(row.ms, span_ms)];
    sums.resize(std::max(sums.size(), row.numbers.size()));
    for (std::size_t i = 0; i < row.numbers.size(); ++i)
      sums[i].add(row.numbers[i], std::int64_t{row.numbers[i]} * kMeanScale, row.numbers[i]);
  }
  return rows_of(spans);
}

std::vector<SeriesRow> roll_up_again(const std::vector<SeriesRow>& rows, std::int64_t span_ms) {
  Spans spans;
  for (const auto& row : rows) {
    auto& sums = spans[begin_of(row.ms, span_ms)];
    sums.resize(std::max(sums.size(), row.numbers.size() / 3));
    for (std::size_t i = 0; i < row.numbers.size() / 3; ++i)
      sums[i].add(row.numbers[3 * i], row.numbers[3 * i + 1], row.numbers[3 * i + 2]);
  }
  return rows_of(spans);
}

}  // namespace acrf
