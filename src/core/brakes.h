// SPDX-License-Identifier: GPL-2.0-or-later
// May this node be acted on now? The brakes count what ACRF has done to the cluster, from
// slurmctld's records alone: no daemon has to remember anything, and none has to be asked.
//
// Nodes decide by themselves, so several may decide at once. Each therefore writes a claim into its
// own record first, reads all records after that, and acts only when what is counted and ALL claims
// together fit the limits. Of two nodes the later writer sees both claims, so they cannot both take
// the last place. Claims beyond the free room, by time and then by name, are withdrawn.
// doc/design/brakes.md has the argument.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/brake_marks.h"
#include "core/config.h"
#include "core/fleet.h"

namespace acrf {

// What a yielding or waiting node pauses before it looks again.
inline constexpr std::int64_t kClaimPause_ms = 300;

enum class Brake {
  kPartitionHour,     // MaxDrainsPerHour
  kPartitionDrained,  // MaxDrained
  kClusterDrained,    // MaxDrainedNodes
  kFloor,             // MinHealthy
  kSwitchHour,        // MaxDrainsPerSwitch
  kCommonClass,       // CommonCauseNodes: one class, anywhere
  kCommonSwitch,      // CommonCauseNodes: one switch, any class
  kSwitchHeat,        // SharedHeat: one switch, too hot
  kCommonOrigin,      // CommonCauseNodes: one file system; one class after a change of the driver
};
std::string_view name_of(Brake brake);  // "partition-hour", ...

// One brake at one moment.
struct BrakeState {
  Brake brake = Brake::kFloor;
  std::string group;               // partition, switch, class or origin; empty: the cluster
  std::vector<std::string> nodes;  // those that are counted
  int limit = 0;                   // the most that may be counted
  int window_s = 0;                // of common causes: CommonCauseTime
  int total = 0;                   // GPU nodes of the group
  int counted() const { return static_cast<int>(nodes.size()); }
  bool is_full() const { return total > 0 && counted() >= limit; }
};

// "2 of 100 nodes of partition train were acted on in the last hour, limit 2"
std::string sentence_of(const BrakeState& state);

// Who wants to act, and why.
struct Wish {
  std::string node;
  std::string fault_class;   // or a cause, as core/brake_marks.h has it
  std::string speaker = {};  // who asks for a node that is silent; empty: the node itself
};

enum class Permission {
  kAct,    // go: write the claim if it is not there yet, else act
  kWait,   // its claim is within the room, others beyond it must withdraw first: look again soon
  kYield,  // the room is taken by earlier claims: withdraw, look again soon
  kHeld,   // a brake holds: withdraw, write `braked`, tell people, look again later
};

struct BrakeDecision {
  Permission permission = Permission::kHeld;
  std::optional<BrakeState> brake;  // that stands in the way
  std::string sentence;             // about it; empty with kAct
};

// Asked twice: before the claim is written, to see whether it makes sense, and with the fleet as
// read after the claim was written. A node that is counted already passes: it takes no more room.
// The fleet must have been read from slurmctld after the claim; time is the fleet's.
BrakeDecision ask_brakes(const Config& config, const Fleet& fleet, const Wish& wish);

// The nodes below the node's switch are too hot together: cooling or power, and nobody's own fault.
// The node counts as hot itself.
std::optional<BrakeState> shared_heat(const Config& config, const Fleet& fleet,
                                      const FleetNode& node);

// Every brake that counts something or has a limit of its own, for people.
std::vector<BrakeState> brake_states(const Config& config, const Fleet& fleet);

}  // namespace acrf
