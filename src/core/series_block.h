// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of numbers over time, packed: each row says which numbers differ from the row before and by
// how much. Readings change little, so that a GPU's eight take about six bytes a row.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace acrf {

inline constexpr std::int32_t kNoNumber = std::numeric_limits<std::int32_t>::min();

struct SeriesRow {
  std::int64_t ms = 0;
  std::vector<std::int32_t> numbers;  // kNoNumber: not known
  bool operator==(const SeriesRow&) const = default;
};

// kInvalid: damaged. Rows before the damage are not used either.
Result<std::vector<SeriesRow>> read_series(std::string_view bytes);

class SeriesBlock {
 public:
  // For rows of so many numbers, at most 65535.
  explicit SeriesBlock(std::size_t width);
  // Goes on where `bytes`, which came from such a block, end.
  static Result<SeriesBlock> resume(std::string bytes);

  // What was added to bytes(); at the first row, all of it.
  std::string_view append(std::int64_t ms, std::span<const std::int32_t> numbers);

  // Takes in what append() gave for further rows.
  Status extend(std::string_view added);

  const std::string& bytes() const { return bytes_; }
  std::size_t width() const { return last_.numbers.size(); }
  bool is_empty() const { return is_empty_; }
  std::int64_t last_ms() const { return last_.ms; }

 private:
  std::string bytes_;
  SeriesRow last_;
  bool is_empty_ = true;
};

}  // namespace acrf
