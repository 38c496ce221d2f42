// SPDX-License-Identifier: GPL-2.0-or-later
// What to do about an incident, given what slurmctld says right now. Every decision is made from a
// fresh view and from nothing remembered but the incident itself: after a crash of any process the
// same functions, asked again, give what is left to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/gpu_group.h"
#include "core/incident.h"
#include "core/node_health.h"
#include "core/policy.h"

namespace acrf {

struct JobId {
  std::uint32_t value = 0;
  auto operator<=>(const JobId&) const = default;
};

struct NodeView {
  bool draining = false;  // out of service by DRAIN or FAIL, whatever the base state
  std::string reason;
  std::int64_t controller_started_unix_s = 0;
  bool answer_was_slow = false;  // so that another controller may have given it
  bool busy = false;             // a job has some of it
  NodeToken token = {};          // ACRF's word in its comment
  bool down = false;
  bool unheard = false;  // by slurmctld since it began: it can't be resumed yet
  bool away = false;     // switched off or being rebooted by Slurm: its silence is nobody's fault
};

enum class DrainStep {
  kDrain,      // drain it, with the incident's reason, or put the GPU into quarantine
  kOurs,       // this incident has done so already
  kOthers,     // drained by somebody else, whose state and reason stay as they are
  kTakenOver,  // this incident had drained it and it no longer is: an admin ended the case
};

// What tells a drain that slurmctld has forgotten from one that an admin has ended.
struct Memory {
  // Since the drain was last seen in place, a call failed or hung, or another controller answers.
  bool controller_was_away = false;
  // The time in the node's mark of the act, which came with the drain in one update; 0: not seen.
  std::int64_t acted_unix_s = 0;
  bool is_kept_by(const NodeView& node) const;  // the mark, and so what came with it
};

// slurmctld writes its state some seconds after a change. A controller that started after the
// drain, or a backup that took over since, may have lost it, so a missing drain then means "once
// more", for some minutes, unless the mark of the act is there: then, and otherwise, it means
// "taken over".
DrainStep plan_drain(const Incident& incident, const NodeView& node, const Memory& memory,
                     std::int64_t now_unix_s);

// Whether a drain may replace the reason that the node's record holds: not somebody else's.
bool may_replace_reason(const std::string& present);

enum class JobState { kPending, kRunning, kSuspended, kFailed, kNodeFailed, kOther };

struct JobView {
  JobId id;
  JobState state = JobState::kOther;
  bool on_node = false;     // the incident's node is among the job's
  bool completing = false;  // slurmctld waits for some of these nodes
  std::int64_t end_unix_s = 0;
  std::uint32_t restarts = 0;
  int exit_status = 0;           // of a job that has ended: exit code, or 128 + signal
  std::string admin_comment;     // carries the policy token and the count of requeues
  std::string comment;           // the user's own, with the word of a launcher
  std::int64_t seen_unix_s = 0;  // when slurmctld said all this
};

enum class JobStep {
  kRequeue,      // it runs on the node, or died of the fault
  kRequeueHeld,  // the same, but it has used up its restarts
  kLeave,        // not ours to touch
};

// A job whose launcher (core/failover.h) can do without the node is left to it, for some seconds;
// if the launcher has not got rid of the node by then, the job is requeued like any other.
JobStep plan_job(const Incident& incident, const JobView& job);

// It is to come back, and slurmctld waits for the node to be done with its last run.
bool is_leaving(const JobView& job);

// Faults of which only silence tells: nobody there can be asked to end a job, so its node goes down
// for the job to be requeued.
bool is_silence(const Verdict& verdict);
// What a drain reason of ACRF's says.
struct DrainedFor {
  std::string id;  // of the incident
  Verdict verdict;
  std::optional<PciAddress> gpu;
};
std::optional<DrainedFor> drained_for(std::string_view reason);
Verdict classify_lost_node();
Verdict classify_hung_slurmd();

enum class DownStep {
  kNothing,
  kWait,  // 22.05 forgets the requeue of a job that completes when its node goes down
  kDown,  // slurmctld requeues its jobs
};

// Of a node that is_silence() is about, with all jobs that slurmctld knows on it. Only a node that
// ACRF holds drained goes down: one that is only down comes back with its slurmd, and its jobs with
// it. A node with a job that does not come back, or one that its launcher keeps running without the
// node, is left to Slurm's own time limit unless another job waits for it.
DownStep plan_down(const Incident& incident, const NodeView& node,
                   const std::vector<JobView>& jobs);

}  // namespace acrf
