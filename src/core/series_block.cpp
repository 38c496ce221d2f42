// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/series_block.h"

#include <algorithm>
#include <optional>

namespace acrf {
namespace {

constexpr std::size_t kMostNumbers = 65535;

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

void put(std::string& bytes, std::uint64_t value) {
  while (value >= 0x80) {
    bytes += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes += static_cast<char>(value);
}

std::optional<std::uint64_t> take(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

bool take_row(std::string_view& bytes, SeriesRow& row) {
  const auto later = take(bytes);
  const auto marks = (row.numbers.size() + 7) / 8;
  if (!later || bytes.size() < marks) return false;
  row.ms = static_cast<std::int64_t>(static_cast<std::uint64_t>(row.ms) +
                                     static_cast<std::uint64_t>(unzigzag(*later)));
  const auto changed = bytes.substr(0, marks);
  bytes.remove_prefix(marks);
  for (std::size_t i = 0; i < row.numbers.size(); ++i) {
    if (!(static_cast<unsigned char>(changed[i / 8]) >> (i % 8) & 1)) continue;
    const auto step = take(bytes);
    if (!step) return false;
    const auto number = static_cast<std::uint64_t>(static_cast<std::int64_t>(row.numbers[i])) +
                        static_cast<std::uint64_t>(unzigzag(*step));
    row.numbers[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(number));
  }
  return true;
}

}  // namespace

Result<std::vector<SeriesRow>> read_series(std::string_view bytes) {
  const auto width = take(bytes);
  if (!width || *width > kMostNumbers) return Error{ErrorCode::kInvalid, "damaged series"};
  std::vector<SeriesRow> rows;
  SeriesRow row{0, std::vector<std::int32_t>(static_cast<std::size_t>(*width))};
  while (!bytes.empty()) {
    if (!take_row(bytes, row)) return Error{ErrorCode::kInvalid, "damaged series"};
    rows.push_back(row);
  }
  return rows;
}

SeriesBlock::SeriesBlock(std::size_t width) {
  last_.numbers.resize(std::min(width, kMostNumbers));
  put(bytes_, last_.numbers.size());
}

Result<SeriesBlock> SeriesBlock::resume(std::string bytes) {
  const auto rows = read_series(bytes);
  if (!rows) return rows.error();
  if (rows->empty()) return Error{ErrorCode::kInvalid, "a series without rows"};
  SeriesBlock block(rows->back().numbers.size());
  block.bytes_ = std::move(bytes);
  block.last_ = rows->back();
  block.is_empty_ = false;
  return block;
}

std::string_view SeriesBlock::append(std::int64_t ms, std::span<const std::int32_t> numbers) {
  const auto before = is_empty_ ? 0 : bytes_.size();
  put(bytes_, zigzag(ms - last_.ms));
  const auto marks = bytes_.size();
  bytes_.append((last_.numbers.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < last_.numbers.size(); ++i) {
    const auto number = i < numbers.size() ? numbers[i] : kNoNumber;
    if (number == last_.numbers[i]) continue;
    auto& mark = bytes_[marks + i / 8];
    mark = static_cast<char>(static_cast<unsigned char>(mark) | 1u << (i % 8));
    put(bytes_, zigzag(std::int64_t{number} - last_.numbers[i]));
    last_.numbers[i] = number;
  }
  last_.ms = ms;
  is_empty_ = false;
  return std::string_view(bytes_).substr(before);
}

Status SeriesBlock::extend(std::string_view added) {
  bytes_ += added;
  while (!added.empty())
    if (!take_row(added, last_)) return Error{ErrorCode::kInvalid, "damaged series"};
  is_empty_ = false;
  return Done{};
}

}  // namespace acrf
