// SPDX-License-Identifier: GPL-2.0-or-later
// CRC-32C (Castagnoli), the checksum of manifests: finds damage, proves no identity.
#pragma once

#include <cstdint>
#include <string_view>

namespace acrf {

// The checksum of `seen` bytes followed by `bytes`, given the checksum of the first; 0 for none.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t seen = 0);

}  // namespace acrf
