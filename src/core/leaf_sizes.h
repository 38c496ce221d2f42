// SPDX-License-Identifier: GPL-2.0-or-later
// Leaves by how many free nodes they have, and the fewest that hold a job: largest first.
#pragma once

#include <span>

namespace acrf {

constexpr int kLargestCounted = 255;

// How many leaves have each size. None has sizes.size() or more, and that is at most
// kLargestCounted + 1.
void count_sizes(std::span<const int> leaves, std::span<int> sizes);

struct Filled {
  int leaves = 0;  // 0: they hold too little
  int last = 0;    // the size of the last one
};

// `there(size)`: how many leaves of that size there are.
template <typename There>
Filled fill_largest(int wanted, int largest, There there) {
  int leaves = 0;
  for (int size = largest; size > 0; --size) {
    const int count = there(size);
    if (count * size >= wanted) return {leaves + (wanted + size - 1) / size, size};
    leaves += count;
    wanted -= count * size;
  }
  return {};
}

}  // namespace acrf
