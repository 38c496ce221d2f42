// SPDX-License-Identifier: GPL-2.0-or-later
#include "actions/responder.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>

namespace acrf {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRound{1000};
constexpr milliseconds kRetry{500};
constexpr milliseconds kSoon{100};
constexpr milliseconds kRefused{30'000};
// slurmctld writes changed state within five seconds (its SAVE_MAX_WAIT); twice that is safe.
constexpr int kSettleRounds = 10;
constexpr std::chrono::seconds kOwnLookRetry{5};
constexpr std::size_t kMostWithdrawn = 1000;

// One GPU can be hidden from jobs while its node serves on if the fault is the GPU's alone. A node
// that must be rebooted, or whose GPU is gone, can't serve on.
bool concerns_gpu_alone(const Verdict& verdict) {
  return verdict.scope == Scope::kGpu &&
         (verdict.action == Action::kResetGpu || verdict.action == Action::kRma);
}

}  // namespace

Responder::Responder(Parts parts, CaseStore cases)
    : parts_(std::move(parts)),
      containment_(parts_.config, slurm_, parts_.audit, parts_.node, parts_.topology_dir,
                   [this](int milliseconds) { return pause(milliseconds); }),
      repair_({parts_.config, slurm_, containment_, parts_.audit, parts_.signs, parts_.tell_case},
              std::move(cases), parts_.node, parts_.boot_id),
      power_caps_({parts_.config, slurm_, parts_.audit, parts_.signs, parts_.node,
                   parts_.topology_dir, parts_.tell}),
      jobs_({parts_.config, slurm_, parts_.audit, parts_.node, parts_.is_still_silent,
             [this](const Incident& changed) { save(changed); }}),
      neighbourhood_(parts_.config, slurm_, parts_.node, parts_.when_neighbours_found),
      thread_([this] { run(); }) {}

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

void Responder::strengthen(Incident incident) {
  {
    const std::lock_guard lock(mutex_);
    stronger_.push_back(std::move(incident));
  }
  wake_.notify_all();
}

void Responder::configure(Config config) {
  const std::lock_guard lock(mutex_);
  next_config_ = std::move(config);
}

void Responder::withdraw(const std::string& id) {
  if (const auto saved = parts_.store.withdraw(id); !saved)
    spdlog::error("incident {}: its withdrawal is not recorded: {}", id, saved.error().sentence);
  const std::lock_guard lock(mutex_);
  if (withdrawn_.size() >= kMostWithdrawn) withdrawn_.clear();
  withdrawn_.insert(id);
}

bool Responder::is_withdrawn(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return withdrawn_.contains(id) || parts_.store.is_withdrawn(id);
}

// False when the thread is to stop.
bool Responder::wait_until(Clock::time_point when) {
  std::unique_lock lock(mutex_);
  const auto is_woken = [this] {
    return stopping_ || own_node_wanted_ || heat_changed_ || !queue_.empty() || !stronger_.empty();
  };
  if (when == Clock::time_point::max())
    wake_.wait(lock, is_woken);
  else
    wake_.wait_until(lock, when, is_woken);
  return !stopping_;
}

// False when the thread is to stop.
bool Responder::pause(int milliseconds) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, std::chrono::milliseconds(milliseconds),
                         [this] { return stopping_; });
}

void Responder::run() {
  auto next = Clock::now();
  while (wait_until(next)) {
    take_submissions();
    // Jobs first: what is to be repaired can wait for a call.
    const auto incidents = respond_to_all(Clock::now());
    next = std::min({incidents, repair_.step(Clock::now()), power_caps_.step(Clock::now()),
                     neighbourhood_.step(Clock::now()), adopt_own_node(Clock::now())});
  }
}

void Responder::look_at_heat() {
  {
    const std::lock_guard lock(mutex_);
    heat_changed_ = true;
  }
  wake_.notify_all();
}

void Responder::look_at_own_node() {
  {
    const std::lock_guard lock(mutex_);
    own_node_wanted_ = true;
  }
  wake_.notify_all();
}

// Says when to call again.
Responder::Clock::time_point Responder::adopt_own_node(Clock::time_point now) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(own_node_wanted_, false)) own_look_due_ = now;
  }
  if (now < own_look_due_) return own_look_due_;
  // Those open their cases themselves.
  if (std::any_of(active_.begin(), active_.end(), [this](const ActiveIncident& active) {
        return active.incident.node == parts_.node;
      }))
    return own_look_due_ = now + kOwnLookRetry;
  const auto node = slurm_.node(parts_.node);
  own_look_due_ = node ? Clock::time_point::max() : now + kOwnLookRetry;
  if (node) repair_.adopt(*node);
  return node ? now : own_look_due_;
}

void Responder::take_submissions() {
  std::deque<Incident> fresh, stronger;
  {
    const std::lock_guard lock(mutex_);
    fresh.swap(queue_);
    stronger.swap(stronger_);
    heat_changed_ = false;
    if (next_config_) parts_.config = std::move(*next_config_);
    next_config_.reset();
  }
  for (auto& incident : fresh) {
    if (!incident.enforced) {
      note_decision(incident);
      continue;
    }
    if (auto* known = find_active(incident.id)) {
      take_root(*known, std::move(incident.root));
      continue;
    }
    ActiveIncident active;
    // Who takes an incident up again can't know what the controller did in the meantime.
    active.memory.controller_was_away = incident.phase == Phase::kDrained;
    active.incident = std::move(incident);
    active_.push_back(std::move(active));
  }
  for (auto& incident : stronger) {
    if (auto* known = find_active(incident.id)) {
      take_root(*known, std::move(incident.root));
    } else if (repair_.hides_only_gpu_of(incident.id) &&
               !concerns_gpu_alone(incident.root.verdict)) {
      active_.emplace_back().incident = std::move(incident);
      save(active_.back().incident);
    }
  }
}

ActiveIncident* Responder::find_active(const std::string& id) {
  const auto found =
      std::find_if(active_.begin(), active_.end(),
                   [&](const ActiveIncident& active) { return active.incident.id == id; });
  return found == active_.end() ? nullptr : &*found;
}

// What was enough for the last root may not be for this one: a node whose GPU was only hidden may
// have to be drained.
void Responder::take_root(ActiveIncident& active, Event root) {
  auto& incident = active.incident;
  incident.root = std::move(root);
  if (incident.quarantined_gpu && !concerns_gpu_alone(incident.root.verdict)) {
    incident.quarantined_gpu.reset();
    incident.phase = Phase::kSeen;
  }
  save(incident);
  active.calm_rounds = 0;
  active.due = {};
}

// What is only watched, or would be done if the mode let it.
void Responder::note_decision(const Incident& incident) {
  auto entry = entry_for(incident, AuditKind::kDecision, "watch", incident.node);
  const bool would_act = evacuates(incident.root.verdict);
  if (would_act) entry.what = incident.quarantined_gpu ? "quarantine" : "drain";
  entry.mode = would_act ? Mode::kObserve : parts_.config.mode;
  parts_.audit.record(std::move(entry),
                      would_act ? AuditResult::skipped("Mode=observe") : AuditResult::done());
  parts_.tell(incident, "opened", would_act ? "Mode=observe: nothing was done" : "watched");
}

Responder::Clock::time_point Responder::respond_to_all(Clock::time_point now) {
  auto next = Clock::time_point::max();
  for (auto active = active_.begin(); active != active_.end();) {
    if (now >= active->due && !respond(*active)) {
      active = active_.erase(active);
      continue;
    }
    next = std::min(next, active->due);
    ++active;
  }
  return next;
}

// One round. False when the incident is closed.
bool Responder::respond(ActiveIncident& active) {
  const Round round = one_round(active);
  if (round == Round::kClosed) return false;
  active.calm_rounds = round == Round::kCalm ? active.calm_rounds + 1 : 0;
  if (active.calm_rounds >= kSettleRounds) {
    close(active.incident, active.incident.quarantined_gpu ? "GPU in quarantine, jobs taken care of"
                                                           : "node drained, jobs taken care of");
    return false;
  }
  active.due = Clock::now() + pause_after(round);
  return true;
}

milliseconds Responder::pause_after(Round round) {
  switch (round) {
    case Round::kRefused: return kRefused;
    case Round::kCalm: return kRound;
    case Round::kEnding: return kSoon;
    case Round::kActed:
    case Round::kClosed: break;
  }
  return kRetry;
}

Round Responder::one_round(ActiveIncident& active) {
  auto& incident = active.incident;
  const auto node = look_at_node(slurm_, active);
  if (!node) {
    if (node.error().code == ErrorCode::kNotFound) {
      close(incident, node.error().sentence);
      return Round::kClosed;
    }
    spdlog::warn("incident {}: {}; trying again", incident.id, node.error().sentence);
    return Round::kActed;
  }
  const Round contained = hold_contained(active, *node);
  if (contained == Round::kClosed || incident.phase == Phase::kSeen) return contained;
  const Round jobs = jobs_.step(active);
  return contained == Round::kCalm ? jobs : contained;
}

Round Responder::hold_contained(ActiveIncident& active, const NodeView& node) {
  auto& incident = active.incident;
  if (incident.phase == Phase::kSeen && is_withdrawn(incident.id)) {
    containment_.give_up(incident.node);
    close(incident, "withdrawn before the drain: the driver needs nothing any more");
    return Round::kClosed;
  }
  // Before its effect has settled: what is missing now was not lost.
  if (incident.phase == Phase::kDrained && repair_.has_returned(incident.id)) {
    close(incident, "repaired and back in service, jobs taken care of");
    return Round::kClosed;
  }
  if (incident.phase == Phase::kSeen && is_silence(incident.root.verdict) &&
      (node.away || !parts_.is_still_silent(incident))) {
    containment_.give_up(incident.node);
    close(incident, node.away ? "left alone: the node is switched off, rebooted or maintained"
                              : "left alone: it answers again");
    return Round::kClosed;
  }
  if (incident.phase == Phase::kSeen) choose_containment(incident);
  switch (plan_drain(incident, node, active.memory, std::time(nullptr))) {
    case DrainStep::kTakenOver:
      incident.taken_over = true;
      repair_.hand_over(incident.id);
      close(incident, "node was resumed by an admin, who has the case now");
      return Round::kClosed;
    case DrainStep::kOthers:
      note_in_place(active, node);
      if (incident.phase == Phase::kDrained) return Round::kCalm;
      if (incident.node != parts_.node && is_acrf_reason(node.reason) &&
          (node.down || !node.busy)) {
        close(incident, "another neighbour has drained the node");
        return Round::kClosed;
      }
      spdlog::info("incident {}: node {} is drained already ({}); its state and reason stay",
                   incident.id, incident.node, node.reason);
      mark_contained(active, is_acrf_reason(node.reason));
      return Round::kActed;
    case DrainStep::kOurs:
      note_in_place(active, node);
      if (incident.phase == Phase::kDrained) return Round::kCalm;
      break;
    case DrainStep::kDrain:
      if (const Round done = contain(active); incident.phase == Phase::kSeen) return done;
      return Round::kActed;
  }
  mark_contained(active, true);
  return Round::kActed;
}

// Which part is taken from the jobs, decided once: the GPU where that is enough and select/acrf is
// there to hide it.
void Responder::choose_containment(Incident& incident) {
  incident.quarantined_gpu.reset();
  const auto& root = incident.root;
  if (!parts_.config.gpu_quarantine || !concerns_gpu_alone(root.verdict)) return;
  if (!root.part.empty() || root.gpu_uuid.empty() || !incident.gpu_index) return;
  if (!parts_.config.placement) {
    spdlog::warn("incident {}: Placement=off hides no GPU: the whole node is drained", incident.id);
    return;
  }
  const auto hides = slurm_.hides_gpus();
  if (!hides || !*hides) {
    spdlog::warn("incident {}: select/acrf is not loaded in slurmctld: the whole node is drained",
                 incident.id);
    return;
  }
  incident.quarantined_gpu = incident.gpu_index;
}

Round Responder::contain(ActiveIncident& active) {
  auto& incident = active.incident;
  if (incident.quarantined_gpu)
    spdlog::warn("incident {}: hiding GPU {} of node {} from jobs", incident.id,
                 *incident.quarantined_gpu, incident.node);
  else
    spdlog::warn("incident {}: draining node {}: {}", incident.id, incident.node,
                 drain_reason(incident));
  const auto contained = containment_.contain(
      {incident.node, incident.quarantined_gpu, incident.id, incident.root.verdict.fault_class,
       drain_reason(incident), incident.root.evidence, incident.root.shared});
  switch (contained.state) {
    case Contained::State::kDone: mark_contained(active, true); return Round::kActed;
    case Contained::State::kSoon:
      spdlog::warn("incident {}: {}; trying again", incident.id, contained.sentence);
      return Round::kActed;
    case Contained::State::kHeld:
      if (incident.outcome != contained.sentence) parts_.tell(incident, "held", contained.sentence);
      incident.outcome = contained.sentence;
      save(incident);
      return Round::kRefused;
    case Contained::State::kObserved:
      spdlog::warn("incident {}: {} for its partition: nothing was done", incident.id,
                   contained.sentence);
      note_decision(incident);
      close(incident, "observed");
      return Round::kClosed;
    case Contained::State::kRefused: break;
  }
  spdlog::error("incident {}: {}; trying again", incident.id, contained.sentence);
  return Round::kRefused;
}

// The case is opened when the part is seen to be ours; what others drained is theirs.
void Responder::mark_contained(ActiveIncident& active, bool by_us) {
  auto& incident = active.incident;
  const bool first = incident.phase == Phase::kSeen;
  incident.phase = Phase::kDrained;
  incident.drained_unix_s = std::time(nullptr);
  incident.outcome.clear();
  save(incident);
  if (!by_us) return;
  if (incident.node == parts_.node) repair_.open(incident);  // a neighbour opens its own
  if (!first) return;
  if (incident.quarantined_gpu)
    parts_.tell(incident, "quarantined", "the GPU is kept from jobs, its node serves on");
  else
    parts_.tell(incident, "drained", "the node is drained");
}

void Responder::close(Incident& incident, const std::string& outcome) {
  incident.phase = Phase::kDone;
  incident.outcome = outcome;
  incident.closed_unix_s = std::time(nullptr);
  spdlog::info("incident {}: closed: {}", incident.id, outcome);
  save(incident);
  parts_.when_closed(incident);
}

// An incident that can't be recorded is handled all the same: a full disk must not stop a drain.
void Responder::save(const Incident& incident) {
  if (const auto saved = parts_.store.save(incident); !saved)
    spdlog::error("incident {}: not recorded: {}", incident.id, saved.error().sentence);
}

}  // namespace acrf
