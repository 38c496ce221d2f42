// SPDX-License-Identifier: GPL-2.0-or-later
// An incident that is being carried out, and what a look at it came to: shared by those who take
// its part from the jobs and those who bring the jobs back.
#pragma once

#include <chrono>
#include <set>
#include <string>

#include "common/slurm_client.h"
#include "core/audit_entry.h"
#include "core/incident.h"
#include "core/recovery.h"

namespace acrf {

// What a look at slurmctld came to.
enum class Round {
  kCalm,     // nothing was left to do
  kActed,    // something was done, or could not be done yet
  kEnding,   // jobs are being ended here
  kRefused,  // slurmctld or a brake says no; asking again soon would not help
  kClosed,   // the case is over
};

struct ActiveIncident {
  Incident incident;
  int calm_rounds = 0;
  std::chrono::steady_clock::time_point due{};
  Memory memory;
  std::int64_t controller_started_s = 0;  // of the one that had the incident's effect in place
  std::set<JobId> refused;                // jobs that slurmctld will not requeue
};

// A fresh look at its node.
Result<NodeView> look_at_node(SlurmClient& slurm, ActiveIncident& active);
// The incident's effect is seen in place.
void note_in_place(ActiveIncident& active, const NodeView& node);

// Of an act, or a decision, that is made for it; in Mode=enforce.
AuditEntry entry_for(const Incident& incident, AuditKind kind, std::string what,
                     std::string subject);

}  // namespace acrf
