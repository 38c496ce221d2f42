// SPDX-License-Identifier: GPL-2.0-or-later
// The jobs of a part that was taken from them: they are asked for a last checkpoint, requeued by
// their policy, and ended where slurmd can't; a node that says nothing any more goes down for them.
// Calls block, as SlurmClient's do.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "actions/active_incident.h"
#include "actions/last_checkpoint.h"
#include "actions/slurmd_stand_in.h"
#include "common/audit_log.h"
#include "common/slurm_client.h"
#include "core/config.h"

namespace acrf {

class JobRecovery {
 public:
  // All outlive this.
  struct Parts {
    const Config& config;
    SlurmClient& slurm;
    AuditLog& audit;
    const std::string& node;  // this one
    // Of a fault of which only silence tells: it is still silent, right now.
    std::function<bool(const Incident&)> is_still_silent;
    std::function<void(const Incident&)> save;
  };
  explicit JobRecovery(Parts parts);

  // Does what is left to do, from a fresh look.
  Round step(ActiveIncident& active);

 private:
  bool is_here(const Incident& incident) const { return incident.node == parts_.node; }
  Round take_down(ActiveIncident& active, const std::vector<JobView>& jobs,
                  const std::set<JobId>& leaving);
  bool holds_part(const Incident& incident, const JobView& job);
  bool requeue(ActiveIncident& active, const JobView& job, bool hold);

  Parts parts_;
  LastCheckpoint last_checkpoint_;
  SlurmdStandIn stand_in_;
};

}  // namespace acrf
