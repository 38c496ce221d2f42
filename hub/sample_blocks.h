// SPDX-License-Identifier: GPL-2.0-or-later
// Samples on their way into the history. A node's samples of five minutes become one block, written
// when it is full; until then each commit's samples stand together in one row, the journal, from
// which a hub that was killed builds its open blocks anew. So a commit writes one row and not one
// for each node. Not thread-safe; no I/O.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/rollup.h"
#include "hub/report.h"

namespace acrf::hub {

inline constexpr std::int64_t kBlock_ms = 300'000;
inline constexpr std::int64_t kMinute_ms = 60'000;
inline constexpr std::int64_t kHour_ms = 3'600'000;

// A block that is full.
struct SealedBlock {
  int node = 0;
  std::int64_t begin_ms = 0;
  std::string raw, minutes;  // series
};

class SampleBlocks {
 public:
  // Adds to `journal` what has to be written down for it, and to `sealed` what it fills.
  void add(int node, std::int64_t ms, const std::vector<GpuValues>& gpus, std::string& journal,
           std::vector<SealedBlock>& sealed);

  // Seals blocks of nodes from which nothing comes any more.
  void seal_older(std::int64_t begin_ms, std::string& journal, std::vector<SealedBlock>& sealed);

  // Takes in a row of the journal as it was written. kInvalid: it is damaged.
  Status replay(std::int64_t row, std::string_view journal);

  // The series of the node's open block; empty: it has none.
  std::string open_block(int node) const;

  // The journal that add() and seal_older() last wrote to became this row; rows before what this
  // gives are needed no more.
  std::int64_t written(std::int64_t row);

 private:
  struct Open {
    std::int64_t begin_ms = 0;
    std::int64_t row = -1;  // of the journal, with the block's begin; -1: not yet written
    SeriesBlock block;
  };
  SealedBlock seal(int node, const Open& open) const;

  std::unordered_map<int, Open> open_;
  std::vector<int> begun_;  // since the last written()
};

}  // namespace acrf::hub
