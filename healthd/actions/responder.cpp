// SPDX-License-Identifier: GPL-2.0-or-later
#include "actions/responder.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <ctime>

namespace acrf {
namespace {

constexpr int kRoundMs = 1000;
constexpr int kRetryMs = 500;
constexpr int kRefusedMs = 30'000;
// libslurm itself waits through a failover, so a call that takes this long may have met another
// controller at its end.
constexpr std::chrono::seconds kSuspiciouslySlow{2};
// slurmctld writes changed state within five seconds (its SAVE_MAX_WAIT); twice that is safe.
constexpr std::size_t kMostWithdrawn = 1000;
constexpr int kSettleRounds = 10;

int pause_after(bool calm, bool refused) {
  if (refused) return kRefusedMs;
  return calm ? kRoundMs : kRetryMs;
}

}  // namespace

Responder::Responder(const IncidentStore& store, WhenClosed when_closed)
    : store_(store), when_closed_(std::move(when_closed)), thread_([this] { run(); }) {}

Responder::~Responder() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Responder::submit(Incident incident) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(incident));
  }
  wake_.notify_all();
}

bool Responder::stopping_within(int milliseconds) {
  std::unique_lock lock(mutex_);
  return wake_.wait_for(lock, std::chrono::milliseconds(milliseconds),
                        [this] { return stopping_; });
}

void Responder::run() {
  while (true) {
    Incident incident;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      incident = std::move(queue_.front());
      queue_.pop_front();
    }
    respond(incident);
  }
}

// Acts at once; then looks again every second until the effect has held.
void Responder::respond(Incident& incident) {
  refused_.clear();
  // Who takes an incident up again can't know what the controller did in the meantime.
  controller_was_away_ = incident.phase == Phase::kDrained;
  for (int calm_rounds = 0; calm_rounds < kSettleRounds;) {
    const Round round = one_round(incident);
    if (round == Round::kClosed) return;
    calm_rounds = round == Round::kCalm ? calm_rounds + 1 : 0;
    if (stopping_within(pause_after(round == Round::kCalm, round == Round::kRefused))) return;
  }
  close(incident, "node drained, jobs taken care of");
}

Responder::Round Responder::one_round(Incident& incident) {
  const auto node = look_at_node(incident.node);
  if (!node) {
    if (node.error().code == ErrorCode::kNotFound) {
      close(incident, node.error().sentence);
      return Round::kClosed;
    }
    spdlog::warn("incident {}: {}; trying again", incident.id, node.error().sentence);
    return Round::kActed;
  }
  const Round drain = hold_drain(incident, *node);
  if (drain == Round::kClosed || incident.phase == Phase::kSeen) return drain;
  const Round jobs = recover_jobs(incident);
  return drain == Round::kCalm ? jobs : drain;
}

Result<NodeView> Responder::look_at_node(const std::string& name) {
  const auto asked = std::chrono::steady_clock::now();
  auto node = slurm_.node(name);
  if (!node || std::chrono::steady_clock::now() - asked > kSuspiciouslySlow)
    controller_was_away_ = true;
  return node;
}

void Responder::withdraw(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (withdrawn_.size() >= kMostWithdrawn) withdrawn_.clear();
  withdrawn_.insert(id);
}

bool Responder::is_withdrawn(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return withdrawn_.contains(id);
}

Responder::Round Responder::hold_drain(Incident& incident, const NodeView& node) {
  if (incident.phase == Phase::kSeen && is_withdrawn(incident.id)) {
    close(incident, "withdrawn before the drain: the driver needs nothing any more");
    return Round::kClosed;
  }
  switch (plan_drain(incident, node, controller_was_away_, std::time(nullptr))) {
    case DrainStep::kTakenOver:
      incident.taken_over = true;
      close(incident, "node was resumed by an admin, who has the case now");
      return Round::kClosed;
    case DrainStep::kOthers:
      controller_was_away_ = false;
      if (incident.phase == Phase::kDrained) return Round::kCalm;
      spdlog::info("incident {}: node {} is drained already ({}); its state and reason stay",
                   incident.id, incident.node, node.reason);
      break;
    case DrainStep::kOurs:
      controller_was_away_ = false;
      if (incident.phase == Phase::kDrained) return Round::kCalm;
      break;
    case DrainStep::kDrain: {
      const auto reason = reason_to_give(incident, node);
      spdlog::warn("incident {}: draining node {}: {}", incident.id, incident.node,
                   reason.value_or("its reason stays as it is: " + node.reason));
      if (const auto drained = slurm_.drain(incident.node, reason); !drained) {
        spdlog::error("incident {}: {}; trying again", incident.id, drained.error().sentence);
        return drained.error().code == ErrorCode::kUnavailable ? Round::kActed : Round::kRefused;
      }
      break;
    }
  }
  mark_drained(incident);
  return Round::kActed;
}

void Responder::mark_drained(Incident& incident) {
  incident.phase = Phase::kDrained;
  incident.drained_unix_s = std::time(nullptr);
  save(incident);
}

Responder::Round Responder::recover_jobs(const Incident& incident) {
  if (incident.root.verdict.at_job_end) return Round::kCalm;
  const auto jobs = slurm_.jobs_of_node(incident.node);
  if (!jobs) {
    spdlog::warn("incident {}: {}; trying again", incident.id, jobs.error().sentence);
    return Round::kActed;
  }
  Round round = Round::kCalm;
  for (const auto& job : *jobs) {
    const JobStep step = plan_job(incident, job);
    if (step == JobStep::kLeave || refused_.contains(job.id)) continue;
    if (requeue(incident, job, step == JobStep::kRequeueHeld)) round = Round::kActed;
  }
  return round;
}

// False when slurmctld says no: the job ended, or may not be requeued. Silence is not a no.
bool Responder::requeue(const Incident& incident, const JobView& job, bool hold) {
  spdlog::warn("incident {}: requeueing job {} ({} restarts so far){}", incident.id, job.id.value,
               job.restarts, hold ? ", held: it has used up its restarts" : "");
  const auto requeued = slurm_.requeue(job.id, hold);
  if (requeued) return true;
  const bool refused = requeued.error().code != ErrorCode::kUnavailable;
  spdlog::error("incident {}: {}; {}", incident.id, requeued.error().sentence,
                refused ? "left alone" : "trying again");
  if (refused) refused_.insert(job.id);
  return !refused;
}

void Responder::close(Incident& incident, const std::string& outcome) {
  incident.phase = Phase::kDone;
  incident.outcome = outcome;
  incident.closed_unix_s = std::time(nullptr);
  spdlog::info("incident {}: closed: {}", incident.id, outcome);
  save(incident);
  when_closed_(incident);
}

// An incident that can't be recorded is handled all the same: a full disk must not stop a drain.
void Responder::save(const Incident& incident) {
  if (const auto saved = store_.save(incident); !saved)
    spdlog::error("incident {}: not recorded: {}", incident.id, saved.error().sentence);
}

}  // namespace acrf
