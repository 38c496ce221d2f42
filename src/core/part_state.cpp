// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/part_state.h"

#include <algorithm>

namespace acrf {

PartState slurm_state_of(const FleetNode& node, bool busy) {
  if (node.maintenance) return PartState::kMaintenance;
  if (node.down) return PartState::kDown;
  if (node.draining) return busy ? PartState::kDraining : PartState::kDrained;
  if (node.token.health.quarantined != 0) return PartState::kQuarantined;
  if (node.token.health.probation) return PartState::kProbation;
  if (node.token.health.suspect) return PartState::kSuspect;
  return PartState::kUnknown;
}

PartState slurm_state_of_gpu(PartState node, const NodeHealth& health, int gpu) {
  const bool hidden = gpu >= 0 && gpu < 64 && (health.quarantined >> gpu & 1) != 0;
  const auto own = hidden ? PartState::kQuarantined : PartState::kUnknown;
  return node >= PartState::kDraining ? std::max(own, node) : own;
}

bool is_out_of_service(PartState state) {
  return state >= PartState::kDraining && state != PartState::kMaintenance;
}

}  // namespace acrf
