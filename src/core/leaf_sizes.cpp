// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/leaf_sizes.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace acrf {

void count_sizes(std::span<const int> leaves, std::span<int> sizes) {
  if (leaves.size() < 4 * sizes.size()) {
    std::fill(sizes.begin(), sizes.end(), 0);
    for (const int size : leaves) ++sizes[static_cast<std::size_t>(size)];
    return;
  }
  // Four counts in turn: leaves of one size, side by side, would wait for each other.
  std::array<std::array<int, kLargestCounted + 1>, 4> counts;
  for (auto& part : counts) std::fill_n(part.begin(), sizes.size(), 0);
  std::size_t leaf = 0;
  for (; leaf + 4 <= leaves.size(); leaf += 4)
    for (std::size_t i = 0; i < 4; ++i) ++counts[i][static_cast<std::size_t>(leaves[leaf + i])];
  for (; leaf < leaves.size(); ++leaf) ++counts[0][static_cast<std::size_t>(leaves[leaf])];
  for (std::size_t size = 0; size < sizes.size(); ++size)
    sizes[size] = counts[0][size] + counts[1][size] + counts[2][size] + counts[3][size];
}

}  // namespace acrf
