// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/recovery.h"

#include <algorithm>

#include "core/failover.h"
#include "core/requeue_budget.h"
#include "core/text.h"
#include "core/xid.h"

namespace acrf {
namespace {

// A job whose program notices the lost GPU before healthd does ends as FAILED about that time.
// Clocks of kernel log, node and controller differ by seconds.
constexpr std::int64_t kBeforeFaultSeconds = 10;
constexpr std::int64_t kAfterFaultSeconds = 300;

// A drain that is missing for longer than this was not lost by a controller.
constexpr std::int64_t kMayBeLostSeconds = 600;

// What a launcher gets to restart its step without the node. Shorter than the time for which an
// incident's effect is watched, so that who gives up waiting still requeues.
constexpr std::int64_t kLauncherSeconds = 5;

// Jobs that complete on a silent node never will; slurmctld gives up on them in its own time.
constexpr std::int64_t kCompletingSeconds = 60;

constexpr std::string_view kLostNode = "node_lost";
constexpr std::string_view kHungSlurmd = "slurmd_hung";

bool died_of(const Incident& incident, const JobView& job) {
  const auto after = job.end_unix_s - incident.root.unix_s;
  return after >= -kBeforeFaultSeconds && after <= kAfterFaultSeconds;
}

bool is_hit(const Incident& incident, const JobView& job) {
  switch (job.state) {
    case JobState::kRunning:
    case JobState::kSuspended: return true;
    case JobState::kFailed:
    case JobState::kNodeFailed: return died_of(incident, job) && job.exit_status != kDoNotRequeue;
    case JobState::kPending:
    case JobState::kOther: return false;
  }
  return false;
}

bool is_left_to_launcher(const Incident& incident, const JobView& job, const JobPolicy& policy) {
  if (policy.recovery != RecoveryPolicy::kFailover || job.state != JobState::kRunning) return false;
  const auto launcher = find_launcher(job.comment);
  if (!launcher) return false;
  const auto& without = launcher->without;
  if (std::find(without.begin(), without.end(), incident.node) != without.end()) return true;
  return launcher->can_lose > 0 && job.seen_unix_s - incident.drained_unix_s < kLauncherSeconds;
}

}  // namespace

bool Memory::is_kept_by(const NodeView& node) const {
  const auto& acted = node.token.acted;
  return acted_unix_s != 0 && acted && acted->unix_s == acted_unix_s;
}

DrainStep plan_drain(const Incident& incident, const NodeView& node, const Memory& memory,
                     std::int64_t now_unix_s) {
  if (incident.quarantined_gpu) {
    const bool hidden =
        (node.token.health.quarantined & (GpuMask{1} << *incident.quarantined_gpu)) != 0;
    if (hidden) return DrainStep::kOurs;
  } else if (node.draining) {
    return reason_names(node.reason, incident) ? DrainStep::kOurs : DrainStep::kOthers;
  }
  if (incident.phase == Phase::kSeen) return DrainStep::kDrain;
  const bool other_controller =
      memory.controller_was_away || node.controller_started_unix_s >= incident.drained_unix_s;
  const bool may_be_lost = other_controller && !memory.is_kept_by(node) &&
                           now_unix_s - incident.drained_unix_s < kMayBeLostSeconds;
  return may_be_lost ? DrainStep::kDrain : DrainStep::kTakenOver;
}

bool may_replace_reason(const std::string& present) {
  return present.empty() || is_acrf_reason(present);
}

JobStep plan_job(const Incident& incident, const JobView& job) {
  if (!job.on_node || !is_hit(incident, job)) return JobStep::kLeave;
  const auto policy = find_policy(job.admin_comment);
  if (!policy || !policy->comes_back()) return JobStep::kLeave;
  if (is_left_to_launcher(incident, job, *policy)) return JobStep::kLeave;
  const auto used = find_requeue_count(job.admin_comment).of(RequeueCause::kHardware);
  return used < policy->max_requeues ? JobStep::kRequeue : JobStep::kRequeueHeld;
}

bool is_leaving(const JobView& job) {
  if (!job.on_node || !job.completing || job.state != JobState::kPending) return false;
  const auto policy = find_policy(job.admin_comment);
  return policy && policy->comes_back();
}

bool is_silence(const Verdict& verdict) {
  return verdict.fault_class == kLostNode || verdict.fault_class == kHungSlurmd;
}

// As drain_reason() writes it: "ACRF: CLASS PLACE ACTION [ID]".
std::optional<DrainedFor> drained_for(std::string_view reason) {
  if (!is_acrf_reason(reason)) return std::nullopt;
  const auto words = split(reason, ' ');
  if (words.size() < 5) return std::nullopt;
  const auto id = words.back();
  const auto action = parse_action(words[words.size() - 2]);
  if (!action || id.size() < 3 || id.front() != '[' || id.back() != ']') return std::nullopt;
  auto place = words[2];
  DrainedFor found{std::string(id.substr(1, id.size() - 2)),
                   {std::string(words[1]), Severity::kCritical, Scope::kNode, *action},
                   take_pci_address(place)};
  if (is_silence(found.verdict) || !place.empty()) found.gpu.reset();
  return found;
}

Verdict classify_lost_node() {
  return {std::string(kLostNode), Severity::kFatal, Scope::kNode, Action::kDrain};
}

Verdict classify_hung_slurmd() {
  return {std::string(kHungSlurmd), Severity::kCritical, Scope::kNode, Action::kDrain};
}

DownStep plan_down(const Incident& incident, const NodeView& node,
                   const std::vector<JobView>& jobs) {
  if (node.down || !node.draining || !is_acrf_reason(node.reason)) return DownStep::kNothing;
  bool is_waited_for = false;
  bool completes = false;
  std::int64_t now_s = 0;
  for (const auto& job : jobs) {
    if (!job.on_node) continue;
    now_s = std::max(now_s, job.seen_unix_s);
    completes |= job.completing;
    if (job.state != JobState::kRunning && job.state != JobState::kSuspended) continue;
    const auto policy = find_policy(job.admin_comment);
    if (!policy || !policy->comes_back()) continue;
    if (is_left_to_launcher(incident, job, *policy))
      return job.seen_unix_s - incident.drained_unix_s < kLauncherSeconds ? DownStep::kWait
                                                                          : DownStep::kNothing;
    is_waited_for = true;
  }
  if (!is_waited_for) return DownStep::kNothing;
  const bool is_recent = now_s - incident.drained_unix_s < kCompletingSeconds;
  return completes && is_recent ? DownStep::kWait : DownStep::kDown;
}

}  // namespace acrf
