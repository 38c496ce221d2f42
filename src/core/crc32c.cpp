// SPDX-License-Identifier: GPL-2.0-or-later
// Eight bytes a turn, one table for each: table k advances a byte past k zero bytes.
#include "core/crc32c.h"

#include <array>

namespace acrf {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // reflected

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = rest;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xff];
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t seen) {
  std::uint32_t rest = ~seen;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < 4; ++i)
      next ^= kTables[7 - i][((rest >> (8 * i)) & 0xff) ^ byte_at(bytes, i)];
    for (std::size_t i = 4; i < 8; ++i) next ^= kTables[7 - i][byte_at(bytes, i)];
    rest = next;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i)
    rest = (rest >> 8) ^ kTables[0][(rest & 0xff) ^ byte_at(bytes, i)];
  return ~rest;
}

}  // namespace acrf
