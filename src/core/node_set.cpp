// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/node_set.h"

#include <span>

namespace acrf {
namespace {

using Ranges = std::span<const NodeRange>;

// Compiled twice below: a processor that counts bits by itself is several times as fast, and the
// oldest that Debian supports does not. (A macro, because a target does not pass through calls.)
#define ACRF_COUNT_RANGES(words, ranges, counts)                                                 \
  for (const auto& range : ranges) {                                                             \
    int total = __builtin_popcountll(words[range.low] & range.head);                             \
    if (range.low != range.high) {                                                               \
      for (auto i = range.low + 1; i < range.high; ++i) total += __builtin_popcountll(words[i]); \
      total += __builtin_popcountll(words[range.high] & range.tail);                             \
    }                                                                                            \
    *counts++ = total;                                                                           \
  }

void count_plainly(const std::uint64_t* words, Ranges ranges, int* counts) {
  ACRF_COUNT_RANGES(words, ranges, counts)
}

#ifdef __x86_64__
[[gnu::target("popcnt")]] void count_quickly(const std::uint64_t* words, const Ranges& ranges,
                                             int* counts) {
  ACRF_COUNT_RANGES(words, ranges, counts)
}
#endif

void count_ranges(const std::uint64_t* words, Ranges ranges, int* counts) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("popcnt")) return count_quickly(words, ranges, counts);
#endif
  count_plainly(words, ranges, counts);
}

}  // namespace

NodeRange::NodeRange(int from, int to) : first(from), end(to) {
  if (first >= end) return;
  low = static_cast<std::uint32_t>(first) >> 6;
  high = static_cast<std::uint32_t>(end - 1) >> 6;
  head = ~std::uint64_t{0} << (first & 63);
  tail = ~std::uint64_t{0} >> (63 - ((end - 1) & 63));
  if (low == high) head &= tail;
}

int NodeSet::count(int first, int end) const {
  const NodeRange range(first, end);
  int total = 0;
  if (!words_.empty()) count_ranges(words_.data(), {&range, 1}, &total);
  return total;
}

void NodeSet::count(const std::vector<NodeRange>& ranges, std::vector<int>& counts) const {
  counts.resize(ranges.size());
  if (!words_.empty()) count_ranges(words_.data(), ranges, counts.data());
}

}  // namespace acrf
