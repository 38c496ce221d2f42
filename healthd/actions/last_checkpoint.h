// SPDX-License-Identifier: GPL-2.0-or-later
// Gives a job time to save itself before it is requeued, where the fault allows that: its steps get
// the signal once, and the requeue waits until a new complete checkpoint is there or the time is
// up. What was asked for is in the incident's record, so that a restarted daemon goes on waiting
// and does not ask twice.
#pragma once

#include <ctime>
#include <functional>
#include <map>
#include <string>

#include "actions/program_run.h"
#include "common/audit_log.h"
#include "common/slurm_client.h"
#include "core/config.h"
#include "core/incident.h"

namespace acrf {

class LastCheckpoint {
 public:
  LastCheckpoint(const Config& config, SlurmClient& slurm, AuditLog& audit, std::string node)
      : config_(config), slurm_(slurm), audit_(audit), node_(std::move(node)) {}

  using Save = std::function<void(const Incident&)>;
  // Whether the requeue of this job, which runs on the incident's node, is to wait. Changes the
  // incident before anything is done, and has it saved.
  bool holds_back(Incident& incident, const JobView& job, const Save& save);

 private:
  struct Look {  // at the job's checkpoints
    explicit Look(const std::string& node) : run("/proc/self/exe", node) {}
    ProgramRun run;
    AuditId audit;
  };

  bool ask(Incident& incident, const JobView& job, int limit_s, const Save& save);
  bool wait(Incident& incident, LastCheckpointOrder& order, const JobView& job, int limit_s,
            const Save& save);
  void end(Incident& incident, LastCheckpointOrder& order, const std::string& how, bool saved,
           const Save& save);
  // The newest complete one once it has been looked for; empty: there is none.
  std::optional<std::string> newest(const JobView& job, const JobPolicy& policy);

  const Config& config_;
  SlurmClient& slurm_;
  AuditLog& audit_;
  std::string node_;
  std::map<JobId, Look> looks_;
};

}  // namespace acrf
