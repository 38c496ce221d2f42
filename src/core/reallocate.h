// SPDX-License-Identifier: GPL-2.0-or-later
// New nodes for the ranks of a running job that lost theirs, such that the job's traffic costs as
// little more as can be.
//
// Lost ranks form runs in the ring, each between two living nodes. Given its nodes, a run is best
// served in depth-first order from one end to the other; so all that is to choose is how many nodes
// of each leaf go to which run. One run, or a few short ones, or any number of single ranks, or
// ranks that may move, or all-to-all traffic: exact. Else the answer comes with a lower bound.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/leaf_share.h"
#include "core/node_set.h"
#include "core/topology.h"

namespace acrf {

struct Loss {
  Traffic traffic = Traffic::kRing;
  std::vector<int> positions;  // the job's, by rank
  NodeSet lost;                // positions: ranks there need another
  NodeSet free;                // candidates; the job's own nodes among them do not count
  NodeSet avoid;               // candidates to take only as far as the others do not suffice
  bool keep_ranks = true;      // false: the living may change ranks too, as in a restart
};

struct Reallocation {
  std::vector<int> positions;    // by rank: the lost replaced, the others as they were
  std::int64_t cost_before = 0;  // with the lost nodes in their places
  std::int64_t cost = 0;         // with the new ones
  std::int64_t lower_bound = 0;  // no choice from the same candidates costs less
  int avoidable = 0;             // nodes taken that were to be avoided: no choice has fewer
  // Proven: no choice costs less.
  bool exact() const { return cost == lower_bound; }
  std::int64_t gap() const { return cost - lower_bound; }
};

// std::nullopt: fewer candidates than lost nodes. All sets have the topology's size, and a position
// has one rank. Microseconds for a few lost nodes among 12,500, tens of milliseconds for 64 that
// are scattered while room is scarce.
std::optional<Reallocation> reallocate(const Topology& topology, const Loss& loss);

}  // namespace acrf
