// SPDX-License-Identifier: GPL-2.0-or-later
// Chains compete for the room of leaves, and prices settle it: what too many want gets dearer,
// every chain answers with its best leaves at those prices (TreeFill), and the sum of the answers
// less what the room is worth is a lower bound (Lagrange). The leaf sets that chains asked for or
// were given on the way are the options of a PBQP, which picks one for each chain.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/chain.h"

namespace acrf {

// rooms: low <= sum over the chains <= high per slot; prices are ignored. All chains have ends, and
// all costs are multiples of `unit`. Prices change up to `rounds` times, fewer where chains are
// long; chains of one node each are solved exactly without. std::nullopt: no room.
std::optional<ChainShares> share_leaves(TreeFill& fill, const std::vector<Chain>& chains,
                                        const std::vector<LeafRoom>& rooms, std::int64_t unit,
                                        int rounds);

}  // namespace acrf
