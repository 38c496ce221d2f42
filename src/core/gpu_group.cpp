// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/gpu_group.h"

#include <bit>
#include <utility>

namespace acrf {
namespace {

constexpr int kTableGpus = 8;

GpuMask lowest(GpuMask free, int wanted) {
  GpuMask group = 0;
  for (; wanted > 0; --wanted, free &= free - 1) group |= free & -free;
  return group;
}

// Spreads the low bits of `packed` over the set bits of `mask`.
GpuMask deposit(GpuMask packed, GpuMask mask) {
  GpuMask out = 0;
  for (; mask; mask &= mask - 1, packed >>= 1)
    if (packed & 1) out |= mask & -mask;
  return out;
}

}  // namespace

GpuGroups::GpuGroups(int gpus, std::vector<std::vector<int>> weights)
    : gpus_(gpus), weights_(std::move(weights)) {
  if (weights_.empty()) return;
  for (int i = 0; i < gpus_; ++i)
    for (int j = 0; j < i; ++j) {
      const auto at = [&](int a, int b) {
        return weights_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
      };
      uniform_ &= at(i, j) == at(1, 0);
    }
  if (uniform_ || gpus_ > kMostExactGpus) return;
  const std::size_t masks = std::size_t{1} << gpus_;
  inside_.resize(masks);
  for (GpuMask mask = 1; mask < masks; ++mask) inside_[mask] = sum_inside(mask);
  if (gpus_ > kTableGpus) return;
  std::vector<std::uint8_t> table(masks * (kTableGpus + 1));
  for (GpuMask free = 0; free < masks; ++free)
    for (int wanted = 1; wanted <= std::popcount(free); ++wanted)
      table[free * (kTableGpus + 1) + static_cast<std::size_t>(wanted)] =
          static_cast<std::uint8_t>(enumerate(free, wanted));
  table_ = std::move(table);
}

std::int64_t GpuGroups::sum_inside(GpuMask group) const {
  std::int64_t sum = 0;
  for (GpuMask a = group; a; a &= a - 1)
    for (GpuMask b = a & (a - 1); b; b &= b - 1)
      sum += weights_[static_cast<std::size_t>(std::countr_zero(a))]
                     [static_cast<std::size_t>(std::countr_zero(b))];
  return sum;
}

std::int64_t GpuGroups::weight_inside(GpuMask group) const {
  if (weights_.empty()) return 0;
  return inside_.empty() ? sum_inside(group) : inside_[group];
}

std::int64_t GpuGroups::best_possible(int wanted) const {
  const GpuMask all = gpus_ >= 64 ? ~GpuMask{0} : (GpuMask{1} << gpus_) - 1;
  return weight_inside(best(all, wanted));
}

GpuMask GpuGroups::best(GpuMask free, int wanted) const {
  const int available = std::popcount(free);
  if (wanted <= 0 || available < wanted) return 0;
  if (available == wanted) return free;
  if (uniform_) return lowest(free, wanted);
  if (!table_.empty()) return table_[free * (kTableGpus + 1) + static_cast<std::size_t>(wanted)];
  return inside_.empty() ? grow(free, wanted) : enumerate(free, wanted);
}

// All groups of the size in ascending order, by the next-number-with-as-many-bits step.
GpuMask GpuGroups::enumerate(GpuMask free, int wanted) const {
  const GpuMask end = GpuMask{1} << std::popcount(free);
  std::pair<std::int64_t, std::int64_t> best_score{-1, -1};
  GpuMask best_group = 0;
  for (GpuMask packed = (GpuMask{1} << wanted) - 1; packed < end;) {
    const GpuMask group = deposit(packed, free);
    const std::pair<std::int64_t, std::int64_t> score{inside_[group], inside_[free & ~group]};
    if (score > best_score) {
      best_score = score;
      best_group = group;
    }
    const GpuMask low = packed & -packed, ripple = packed + low;
    packed = ripple | (((packed ^ ripple) >> 2) / low);
  }
  return best_group;
}

// Too many GPUs to enumerate: grow the group by the best-linked GPU.
GpuMask GpuGroups::grow(GpuMask free, int wanted) const {
  GpuMask best_group = 0;
  std::int64_t best_weight = -1;
  for (GpuMask start = free; start; start &= start - 1) {
    GpuMask group = start & -start;
    while (std::popcount(group) < wanted) {
      GpuMask next = 0;
      std::int64_t next_weight = -1;
      for (GpuMask rest = free & ~group; rest; rest &= rest - 1) {
        const auto weight = sum_inside(group | (rest & -rest));
        if (weight > next_weight) {
          next_weight = weight;
          next = rest & -rest;
        }
      }
      group |= next;
    }
    if (const auto weight = sum_inside(group); weight > best_weight) {
      best_weight = weight;
      best_group = group;
    }
  }
  return best_group;
}

}  // namespace acrf
