// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/node_set.h"

#include <bit>
#include <span>

namespace acrf {
namespace {

using Bounds = std::span<const std::pair<int, int>>;

// Compiled twice below: a processor that counts bits by itself is several times as fast, and the
// oldest that Debian supports does not. (A macro, because a target does not pass through calls.)
#define ACRF_COUNT_RANGES(words, bounds, counts)                                                   \
  for (const auto& [first, end] : bounds) {                                                        \
    int total = 0;                                                                                 \
    if (first < end && (first >> 6) == ((end - 1) >> 6)) {                                         \
      total = __builtin_popcountll(words[first >> 6] >> (first & 63) << (63 - (end - 1 - first))); \
    } else if (first < end) {                                                                      \
      const int low = first >> 6, high = (end - 1) >> 6;                                           \
      const std::uint64_t head = ~std::uint64_t{0} << (first & 63);                                \
      const std::uint64_t tail = ~std::uint64_t{0} >> (63 - ((end - 1) & 63));                     \
      total = __builtin_popcountll(words[low] & head);                                             \
      for (int i = low + 1; i < high; ++i) total += __builtin_popcountll(words[i]);                \
      total += __builtin_popcountll(words[high] & tail);                                           \
    }                                                                                              \
    *counts++ = total;                                                                             \
  }

void count_plainly(const std::uint64_t* words, Bounds bounds, int* counts) {
  ACRF_COUNT_RANGES(words, bounds, counts)
}

#ifdef __x86_64__
[[gnu::target("popcnt")]] void count_quickly(const std::uint64_t* words, const Bounds& bounds,
                                             int* counts) {
  ACRF_COUNT_RANGES(words, bounds, counts)
}
#endif

void count_ranges(const std::uint64_t* words, Bounds bounds, int* counts) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("popcnt")) return count_quickly(words, bounds, counts);
#endif
  count_plainly(words, bounds, counts);
}

}  // namespace

int NodeSet::count(int first, int end) const {
  const std::pair<int, int> bounds{first, end};
  int total = 0;
  count_ranges(words_.data(), {&bounds, 1}, &total);
  return total;
}

void NodeSet::count(const std::vector<std::pair<int, int>>& bounds,
                    std::vector<int>& counts) const {
  counts.resize(bounds.size());
  count_ranges(words_.data(), bounds, counts.data());
}

int NodeSet::append_to(std::vector<int>& positions, int first, int end, int most) const {
  const std::size_t before = positions.size();
  positions.resize(before + static_cast<std::size_t>(most));
  int* next = positions.data() + before;
  int left = most;
  for (int at = first; at < end && left > 0; at = (at | 63) + 1) {
    const int base = at & ~63;
    std::uint64_t rest = words_[word(at)] & (~std::uint64_t{0} << (at & 63));
    if (end - base < 64) rest &= (std::uint64_t{1} << (end - base)) - 1;
    int* const enough = next + left;
    for (; rest && next != enough; rest &= rest - 1) *next++ = base + std::countr_zero(rest);
    left = static_cast<int>(enough - next);
  }
  positions.resize(positions.size() - static_cast<std::size_t>(left));
  return most - left;
}

}  // namespace acrf
