// SPDX-License-Identifier: GPL-2.0-or-later
// For a slurmd that does not answer: a job that leaves this node, which ACRF drained, would stay
// COMPLETING for as long as slurmctld waits for that slurmd. What it can't do is done here: the
// job's program is ended, SIGTERM first, its script's step daemon is waited for, and slurmctld is
// told that the node does not respond (NO_RESPOND, which it takes back itself when the node does)
// and which jobs have left it (`left=` in the node's comment). job_submit/acrf then lets these go.
// Unlike DOWN this is safe while the job completes, and nothing of it runs on when it starts
// elsewhere.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/audit_log.h"
#include "common/slurm_client.h"
#include "core/incident.h"

namespace acrf {

class SlurmdStandIn {
 public:
  SlurmdStandIn(SlurmClient& slurm, AuditLog& audit) : slurm_(slurm), audit_(audit) {}

  // `leaving`: jobs that slurmctld waits for on the incident's node. True: something is left to do,
  // ask again soon. Takes up to a second when slurmd does not answer.
  bool step(const Incident& incident, const std::set<JobId>& leaving, int kill_wait_s);

  // Tells slurmctld: nothing of these goes on there. True: it did not hear, ask again soon.
  bool tell(const Incident& incident, const std::set<JobId>& left);

 private:
  using Clock = std::chrono::steady_clock;

  bool slurmd_answers(const std::string& node);
  bool has_ended(const std::string& node, JobId job, int kill_wait_s);

  SlurmClient& slurm_;
  AuditLog& audit_;
  struct Ending {
    Clock::time_point since;
    std::optional<Clock::time_point> without_program;  // since when only its daemon is left
  };
  std::map<JobId, Ending> ending_;
  std::optional<std::string> spool_;
};

}  // namespace acrf
