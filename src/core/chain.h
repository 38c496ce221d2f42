// SPDX-License-Identifier: GPL-2.0-or-later
// Runs of ranks, each between two nodes that stay where they are, that share the room of leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tree_fill.h"

namespace acrf {

struct Chain {
  int length = 0;
  TreeFill::Placed ends;  // the two nodes it runs between, or none
};

struct ChainShares {
  std::vector<std::vector<int>> counts;  // by chain, by slot
  std::int64_t cost = 0;                 // of the links, in the scale of the TreeFill
  std::int64_t lower_bound = 0;
};

}  // namespace acrf
