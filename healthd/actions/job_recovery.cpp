// SPDX-License-Identifier: GPL-2.0-or-later
#include "actions/job_recovery.h"

#include <spdlog/spdlog.h>

namespace acrf {

JobRecovery::JobRecovery(Parts parts)
    : parts_(std::move(parts)),
      last_checkpoint_(parts_.config, parts_.slurm, parts_.audit, parts_.node),
      stand_in_(parts_.slurm, parts_.audit) {}

Round JobRecovery::step(ActiveIncident& active) {
  const auto& incident = active.incident;
  if (incident.root.verdict.at_job_end) return Round::kCalm;
  const auto jobs = parts_.slurm.jobs_of_node(incident.node);
  if (!jobs) {
    spdlog::warn("incident {}: {}; trying again", incident.id, jobs.error().sentence);
    return Round::kActed;
  }
  std::set<JobId> leaving;
  for (const auto& job : *jobs)
    if (is_leaving(job)) leaving.insert(job.id);
  // Of a slurmd that hangs here the stand-in does the work: a node that goes down is waited for by
  // nobody, and what still runs on it would run twice.
  const bool silent = is_silence(incident.root.verdict) && !is_here(incident);
  Round round = silent ? take_down(active, *jobs, leaving) : Round::kCalm;
  for (const auto& job : *jobs) {
    const bool runs = job.state == JobState::kRunning || job.state == JobState::kSuspended;
    if (silent && runs) continue;  // nobody there would end it: its node goes down instead
    const JobStep step = plan_job(incident, job);
    if (step == JobStep::kLeave || active.refused.contains(job.id)) continue;
    if (!holds_part(incident, job)) continue;
    if (last_checkpoint_.holds_back(active.incident, job, parts_.save)) {
      round = Round::kActed;
      continue;
    }
    if (!requeue(active, job, step == JobStep::kRequeueHeld)) continue;
    round = Round::kActed;
    leaving.insert(job.id);
  }
  const bool ending = is_here(incident) && !incident.quarantined_gpu &&
                      stand_in_.step(incident, leaving, parts_.config.requeue_kill_wait_s);
  return ending ? Round::kEnding : round;
}

// The node is drained and silent. It is looked at once more right before.
Round JobRecovery::take_down(ActiveIncident& active, const std::vector<JobView>& jobs,
                             const std::set<JobId>& leaving) {
  const auto& incident = active.incident;
  const auto node = look_at_node(parts_.slurm, active);
  if (!node) return Round::kActed;
  if (!leaving.empty() && parts_.is_still_silent(incident) && stand_in_.tell(incident, leaving))
    return Round::kActed;
  const auto step = plan_down(incident, *node, jobs);
  if (step == DownStep::kNothing) return Round::kCalm;
  if (step == DownStep::kWait) return Round::kActed;
  if (!parts_.is_still_silent(incident)) return Round::kCalm;
  spdlog::warn("incident {}: node {} goes down for its jobs to be requeued", incident.id,
               incident.node);
  auto entry = entry_for(incident, AuditKind::kAct, "down", incident.node);
  entry.undo = "resume " + incident.node;
  const auto id = parts_.audit.begin(std::move(entry));
  const auto done = parts_.slurm.down(incident.node);
  parts_.audit.finish(id, done ? AuditResult::done() : AuditResult::failed(done.error().sentence));
  if (!done) spdlog::error("incident {}: {}; trying again", incident.id, done.error().sentence);
  return Round::kActed;
}

// With one GPU in quarantine the jobs on the node's other GPUs go on.
bool JobRecovery::holds_part(const Incident& incident, const JobView& job) {
  if (!incident.quarantined_gpu) return true;
  const auto held = parts_.slurm.job_on_node(job.id, incident.node);
  return held && (held->gpus & (GpuMask{1} << *incident.quarantined_gpu)) != 0;
}

// False when slurmctld says no: the job ended, or may not be requeued. Silence is not a no.
bool JobRecovery::requeue(ActiveIncident& active, const JobView& job, bool hold) {
  const auto& incident = active.incident;
  spdlog::warn("incident {}: requeueing job {} ({} restarts so far){}", incident.id, job.id.value,
               job.restarts, hold ? ", held: it has used up its restarts" : "");
  auto entry = entry_for(incident, AuditKind::kAct, hold ? "requeue_hold" : "requeue",
                         "job " + std::to_string(job.id.value));
  if (hold) entry.undo = "release " + std::to_string(job.id.value);
  const auto id = parts_.audit.begin(std::move(entry));
  const auto requeued = parts_.slurm.requeue(job.id, hold);
  parts_.audit.finish(
      id, requeued ? AuditResult::done() : AuditResult::failed(requeued.error().sentence));
  if (requeued) return true;
  const bool refused = requeued.error().code != ErrorCode::kUnavailable;
  spdlog::error("incident {}: {}; {}", incident.id, requeued.error().sentence,
                refused ? "left alone" : "trying again");
  if (refused) active.refused.insert(job.id);
  return !refused;
}

}  // namespace acrf
