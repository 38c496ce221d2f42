// SPDX-License-Identifier: GPL-2.0-or-later
// Series over longer spans: of each number the least, the mean and the greatest of a minute or an
// hour.
#pragma once

#include <vector>

#include "core/series_block.h"

namespace acrf {

// Means are kept in tenths.
inline constexpr int kMeanScale = 10;

// One row for each span of `span_ms` in which there are rows, stamped with the span's begin: three
// numbers in place of each one, least, mean in tenths and greatest. Rows must be of one width.
std::vector<SeriesRow> roll_up(const std::vector<SeriesRow>& rows, std::int64_t span_ms);

// The same from rows that roll_up() made; each counts alike.
std::vector<SeriesRow> roll_up_again(const std::vector<SeriesRow>& rows, std::int64_t span_ms);

}  // namespace acrf
