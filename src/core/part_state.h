// SPDX-License-Identifier: GPL-2.0-or-later
// The one word for a node or a GPU in what the hub and the commands tell. A later one outweighs an
// earlier one.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/fleet.h"

namespace acrf {

enum class PartState : unsigned char {
  kUnknown,  // nobody has told, or not for a while
  kHealthy,
  kSuspect,
  kProbation,
  kQuarantined,  // a GPU that is hidden from jobs; a node that has one
  kDraining,
  kDrained,
  kDown,
  kAttended,  // people have it: replacement, or the end of what automation may try
  kMaintenance,
};

inline constexpr std::array<std::string_view, 10> kPartStates = {
    "unknown",  "healthy", "suspect", "probation", "quarantined",
    "draining", "drained", "down",    "attended",  "maintenance"};

inline std::string_view name_of(PartState state) {
  return kPartStates[static_cast<std::size_t>(state)];
}

inline std::optional<PartState> parse_part_state(std::string_view name) {
  for (std::size_t i = 0; i < kPartStates.size(); ++i)
    if (kPartStates[i] == name) return static_cast<PartState>(i);
  return std::nullopt;
}

// As it stands in the strings of /v1/fleet.
inline char digit_of(PartState state) {
  return static_cast<char>('0' + static_cast<unsigned char>(state));
}

// What slurmctld says of the node, as far as it outweighs what the node itself says. Of a node in
// service it knows nothing more.
PartState slurm_state_of(const FleetNode& node, bool busy);

// The GPU of a node that slurmctld alone speaks of.
PartState slurm_state_of_gpu(PartState node, const NodeHealth& health, int gpu);

// Taken from the jobs, by whomever, and not for planned work.
bool is_out_of_service(PartState state);

}  // namespace acrf
