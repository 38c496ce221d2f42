// SPDX-License-Identifier: GPL-2.0-or-later
// Which GPUs of one node: the group with most link weight inside, then with most link weight left
// behind for the next job. Exact by enumeration, up to kMostExactGpus; looked up in a table for
// nodes of up to eight GPUs.
#pragma once

#include <cstdint>
#include <vector>

namespace acrf {

using GpuMask = std::uint64_t;  // bit i: the node's i-th GPU

class GpuGroups {
 public:
  static constexpr int kMostExactGpus = 16;

  // Link weights between the GPUs, symmetric; only pairs count. Empty: `gpus` equal GPUs.
  explicit GpuGroups(int gpus, std::vector<std::vector<int>> weights = {});

  int gpus() const { return gpus_; }
  // Every group of a size is as good as any other.
  bool is_uniform() const { return uniform_; }
  // 0 when fewer than `wanted` are free.
  GpuMask best(GpuMask free, int wanted) const;
  std::int64_t weight_inside(GpuMask group) const;
  // Of the best group that the whole node could give.
  std::int64_t best_possible(int wanted) const;

  bool operator==(const GpuGroups& other) const {
    return gpus_ == other.gpus_ && weights_ == other.weights_;
  }

 private:
  GpuMask enumerate(GpuMask free, int wanted) const;
  GpuMask grow(GpuMask free, int wanted) const;
  std::int64_t sum_inside(GpuMask group) const;

  int gpus_;
  std::vector<std::vector<int>> weights_;
  bool uniform_ = true;
  std::vector<std::int64_t> inside_;  // by mask, for exact sizes
  std::vector<std::uint8_t> table_;   // [free mask][wanted], for up to eight GPUs
};

}  // namespace acrf
