// SPDX-License-Identifier: GPL-2.0-or-later
// An act on this node within the brakes: claims, looks again, acts or stands back, as
// doc/design/brakes.md says. Every automatic drain and quarantine goes through here.
#pragma once

#include <functional>
#include <string>

#include "common/slurm_client.h"
#include "core/brakes.h"

namespace acrf {

struct BrakedAct {
  Wish wish;
  std::string slurm_directory;  // where topology.conf is
  // Does it, and with it, in the same update, makes this change of the node's token.
  std::function<Status(const SlurmClient::ChangeToken&)> act;
  // Waits; false: the program is to end.
  std::function<bool(int milliseconds)> pause;
};

// kAct: it is done. kHeld: it is not, and `braked` says so in the node's record; ask again later.
// kWait and kYield: too many asked at once for too long, or the program is to end; ask again soon.
// Takes three calls to slurmctld when nobody is in the way. After an Error the claim may stand
// until it is forgotten or the next try replaces it.
Result<BrakeDecision> act_within_brakes(SlurmClient& slurm, const Config& config,
                                        const BrakedAct& wanted);

}  // namespace acrf
