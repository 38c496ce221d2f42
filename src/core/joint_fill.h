// SPDX-License-Identifier: GPL-2.0-or-later
// The leaves of a few short chains, exactly: TreeFill's table with one dimension per chain, "the
// cheapest way to take j1, j2, ... nodes below here". Its size is the product of the lengths plus
// one, so this is for a handful of lost nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/chain.h"

namespace acrf {

// Steps that fill_jointly() takes at most, for chains of these lengths in this tree.
std::int64_t joint_steps(const TreeFill& fill, const std::vector<Chain>& chains);

// rooms: low <= sum over the chains <= high per slot; prices are ignored. std::nullopt: no room.
std::optional<ChainShares> fill_jointly(const TreeFill& fill, const std::vector<Chain>& chains,
                                        const std::vector<LeafRoom>& rooms);

}  // namespace acrf
