// SPDX-License-Identifier: GPL-2.0-or-later
// Failover inside a job's allocation: which of its nodes run, and which take the place of one that
// is lost. The launcher (`acrf run`) and the others talk through words in the job's own record,
// which slurmctld keeps: "acrf-lost:n[3-4]" in the admin comment are the nodes that ACRF took out
// of service below the job; "acrf-run:can-lose=1,without=n3" in the comment is the launcher's word
// that it is there, how many nodes more it can do without, and which it does without by now.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/topology.h"

namespace acrf {

struct LauncherWord {
  int can_lose = 0;
  std::vector<std::string> without;
  bool operator==(const LauncherWord&) const = default;
};

std::optional<LauncherWord> find_launcher(std::string_view comment);
// The comment with the launcher's word in it, in place of an older one; other words stay. Without
// one the word goes.
std::string with_launcher(std::string_view comment, const std::optional<LauncherWord>& word);

// Nodes that the admin comment calls lost; none without the word or with a damaged one.
std::vector<std::string> find_lost_nodes(std::string_view admin_comment);

// Positions are of a topology whose nodes are the allocation's.
struct FailoverState {
  std::vector<int> running;  // by rank; empty before the first start
  std::vector<int> lost;
  int wanted = 1;  // nodes for the step
  int least = 1;   // below `wanted`: an elastic job goes on with that many
};

// The nodes of the step, by rank, whether or not they change: those that run and are not lost stay,
// and the lost are replaced so that the ring's cost grows least. An elastic job goes on with what
// is left when the spares are used up. std::nullopt: too few nodes, the job must go elsewhere.
std::optional<std::vector<int>> plan_step(const Topology& topology, const FailoverState& state);

// How many nodes more such a job can lose.
int losses_left(int nodes, const FailoverState& state);

}  // namespace acrf
