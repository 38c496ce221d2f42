// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/recovery.h"

namespace acrf {
namespace {

// A job whose program notices the lost GPU before healthd does ends as FAILED within this time.
constexpr std::int64_t kDiedOfFaultSeconds = 300;

bool died_of(const Incident& incident, const JobView& job) {
  const auto after = job.end_unix_s - incident.root.unix_s;
  return after >= 0 && after <= kDiedOfFaultSeconds;
}

bool is_hit(const Incident& incident, const JobView& job) {
  switch (job.state) {
    case JobState::kRunning:
    case JobState::kSuspended:
      return true;
    case JobState::kFailed:
    case JobState::kNodeFailed:
      return died_of(incident, job);
    case JobState::kPending:
    case JobState::kOther:
      return false;
  }
  return false;
}

}  // namespace

DrainStep plan_drain(const Incident& incident, const NodeView& node) {
  if (node.draining)
    return reason_names(node.reason, incident) ? DrainStep::kOurs : DrainStep::kOthers;
  const bool maybe_lost = node.controller_started_unix_s >= incident.drained_unix_s;
  return incident.phase == Phase::kSeen || maybe_lost ? DrainStep::kDrain : DrainStep::kTakenOver;
}

JobStep plan_job(const Incident& incident, const JobView& job) {
  if (!job.on_node || !is_hit(incident, job)) return JobStep::kLeave;
  const auto policy = find_policy(job.admin_comment);
  if (!policy || policy->recovery != RecoveryPolicy::kRequeue) return JobStep::kLeave;
  const auto limit = static_cast<std::uint32_t>(policy->max_requeues);
  return job.restarts < limit ? JobStep::kRequeue : JobStep::kRequeueHeld;
}

}  // namespace acrf
