// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/incident.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::int64_t kSameEventSeconds = 5;
constexpr std::int64_t kBurstSeconds = 180;
constexpr std::int64_t kStickySeconds = 3 * 3600;
constexpr std::int64_t kEchoSeconds = 60;
constexpr std::size_t kMostNotes = 64;  // companions, places and kinds that one burst remembers
constexpr std::string_view kReasonPrefix = "ACRF: ";
constexpr std::string_view kNode = "node";
constexpr int kRecoveryXid = 154;

std::string incident_id(const std::string& node, const Event& event) {
  const std::string observed = node + '\n' + event.boot_id + '\n' + event.source + '\n' +
                               event.discriminator + '\n' + place_of(event);
  return node + "-" + fingerprint(observed).substr(0, 10);
}

// Faults that belong together although they show in different places.
enum class Family { kOther, kLost, kLink, kBus, kProgram };

Family family_of(const Event& event) {
  const auto& name = event.verdict.fault_class;
  if (name == "gpu_lost") return Family::kLost;
  if (event.sxid || name == "nvlink" || name == "nvlink5") return Family::kLink;
  if (starts_with(name, "pcie_") && name != "pcie_ce" && name != "pcie_secondary")
    return Family::kBus;
  if (name == "app_fault") return Family::kProgram;
  return Family::kOther;
}

// A count of the GPUs names none of them: if one is known to be gone, it is meant.
bool counts_known_loss(const Event& root, const Event& event) {
  const auto is_gone = [](const Event& of) {
    return of.verdict.fault_class == "gpu_lost" || of.verdict.fault_class == "gpu_missing";
  };
  return is_gone(root) && is_gone(event) && root.part != kNode && event.part == kNode;
}

bool is_sticky(const Event& event) {
  constexpr int kSticky[] = {74, 79, 95, 109, 119};
  if (event.xid)
    return std::find(std::begin(kSticky), std::end(kSticky), *event.xid) != std::end(kSticky);
  return event.verdict.fault_class == "gpu_lost";
}

// By the job where it is known; else by the process, or because they die of the same.
bool is_same_program(const Event& a, const Event& b) {
  if (a.job || b.job) return a.job == b.job;
  return a.xid == b.xid || (a.pid && a.pid == b.pid);
}

// AMD's and Intel's drivers name the GPU in some lines of a story, and not in others.
bool is_of_same_driver(const Event& root, const Event& event) {
  if (root.part != kNode && event.part != kNode) return false;
  const auto driver = [](const Event& of) {
    const auto& name = of.verdict.fault_class;
    return starts_with(name, "amd_") || starts_with(name, "intel_") ? name.substr(0, name.find('_'))
                                                                    : std::string();
  };
  return !driver(root).empty() && driver(root) == driver(event);
}

// The event, at the root's GPU if it names none itself.
Event with_gpu_of(const Event& root, Event event) {
  if (event.part != kNode || !root.part.empty() || !is_of_same_driver(root, event)) return event;
  event.part.clear();
  event.gpu = root.gpu;
  event.gpu_uuid = root.gpu_uuid;
  return event;
}

// A port says that an error came, the driver below it that it cannot help, the port that recovery
// has failed.
bool is_failed_recovery(const Event& root, const Event& event) {
  return event.verdict.action == Action::kRebootNode && root.part.empty() != event.part.empty();
}

// The driver's own word on what a GPU needs: a line of the log, or NVML's field.
bool is_drivers_word(const Event& event) {
  return event.xid == kRecoveryXid || starts_with(event.verdict.fault_class, "recovery_");
}

// Once the node must be rebooted, the driver says so of each of its GPUs.
bool asks_for_same_reboot(const Event& root, const Event& event) {
  return is_drivers_word(event) && event.verdict.action == Action::kRebootNode &&
         root.verdict.action == Action::kRebootNode;
}

bool is_related(const Event& root, const Event& event) {
  const auto a = family_of(root);
  const auto b = family_of(event);
  if (is_of_same_driver(root, event) || asks_for_same_reboot(root, event)) return true;
  if (a == Family::kBus && b == Family::kBus) return is_failed_recovery(root, event);
  if (a == Family::kProgram && b == Family::kProgram) return is_same_program(root, event);
  if (a == Family::kLost) return b == Family::kLink || b == Family::kBus;
  if (a == Family::kLink) return b == Family::kLost || b == Family::kLink;
  return a == Family::kBus && b == Family::kLost;
}

// What only follows other faults: it joins whatever is open, and opens nothing.
bool is_follower(const Event& event) { return event.verdict.fault_class == "teardown"; }

bool is_recovery(const Event& event) { return event.verdict.fault_class == "recovered"; }

// A burst may touch a place only because a program ran there, or a channel was torn down. What
// takes that place out of service is no part of it.
bool stands_alone(const Event& root, const Event& event) {
  if (!evacuates(event.verdict) || event.part == kNode || place_of(event) == place_of(root))
    return false;
  const auto family = family_of(root);
  const bool spreads = family == Family::kLost || family == Family::kLink || family == Family::kBus;
  return !is_related(root, event) && !(spreads && is_drivers_word(event));
}

bool holds(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

void add_once(std::vector<std::string>& list, const std::string& item) {
  if (list.size() < kMostNotes && !holds(list, item)) list.push_back(item);
}

// How soon the node is taken out of service.
enum class Urgency { kNever, kAtJobEnd, kAtOnce };

Urgency urgency_of(const Verdict& verdict) {
  if (!evacuates(verdict)) return Urgency::kNever;
  return verdict.at_job_end ? Urgency::kAtJobEnd : Urgency::kAtOnce;
}

int strength(Action action) {
  switch (action) {
    case Action::kIgnore: return 0;
    case Action::kWatch: return 1;
    case Action::kRestartApp: return 2;
    case Action::kCheckFabric: return 3;
    case Action::kResetGpu: return 4;
    case Action::kDrain: return 5;
    case Action::kRebootNode: return 6;
    case Action::kRma: return 7;
  }
  return 0;
}

}  // namespace

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::kSeen: return "seen";
    case Phase::kDrained: return "drained";
    case Phase::kDone: return "done";
  }
  return "seen";
}

std::optional<Phase> parse_phase(std::string_view name) {
  for (const Phase phase : {Phase::kSeen, Phase::kDrained, Phase::kDone})
    if (name == name_of(phase)) return phase;
  return std::nullopt;
}

Incident incident_of(const std::string& node, const Event& event) {
  Incident incident;
  incident.id = incident_id(node, event);
  incident.node = node;
  incident.root = event;
  return incident;
}

std::string drain_reason(const Incident& incident) {
  const auto& verdict = incident.root.verdict;
  return std::string(kReasonPrefix) + verdict.fault_class + " " + place_of(incident.root) + " " +
         std::string(name_of(verdict.action)) + " [" + incident.id + "]";
}

bool is_acrf_reason(std::string_view reason) { return starts_with(reason, kReasonPrefix); }

bool reason_names(std::string_view reason, const Incident& incident) {
  return is_acrf_reason(reason) && reason.find("[" + incident.id + "]") != std::string_view::npos;
}

bool IncidentTracker::takes_in(const Burst& burst, const Event& event) const {
  const auto& root = burst.incident.root;
  if (root.boot_id != event.boot_id) return false;
  if (burst.returned_s != 0 && event.unix_s > burst.returned_s) return false;
  if (counts_known_loss(root, event)) return event.unix_s - burst.last_event_s <= kStickySeconds;
  if (burst.reopens_s != 0 && event.unix_s > burst.reopens_s) return false;
  // What echoes a fault that was taken care of is no news; another one that asks for more is.
  if (burst.reopens_s != 0 && label_of(event) != label_of(root) && evacuates(event.verdict))
    return false;
  const auto since = event.unix_s - burst.last_event_s;
  const bool same_fault = root.verdict.fault_class == event.verdict.fault_class;
  // Two faults of a node that name no device have nothing to do with each other.
  const bool is_here = event.part == kNode ? same_fault
                                           : holds(burst.incident.places, place_of(event)) &&
                                                 !stands_alone(root, event);
  if (is_here && same_fault && is_sticky(root))
    return since <= kStickySeconds && since >= -kStickySeconds;
  if (is_here && is_recovery(event)) return true;
  // A clock that goes back that far is another clock, or another boot.
  if (since > kBurstSeconds || since < -kBurstSeconds) return false;
  return is_here || is_follower(event) || is_related(root, event);
}

// The burst of the place itself goes before those of others, a newer before an older.
IncidentTracker::Burst* IncidentTracker::find_burst(const Event& event) {
  Burst* elsewhere = nullptr;
  for (auto burst = bursts_.rbegin(); burst != bursts_.rend(); ++burst) {
    if (!takes_in(*burst, event)) continue;
    if (holds(burst->incident.places, place_of(event))) return &*burst;
    if (!elsewhere) elsewhere = &*burst;
  }
  return elsewhere;
}

void IncidentTracker::forget_oldest() {
  if (bursts_.size() <= most_) return;
  bursts_.erase(std::min_element(bursts_.begin(), bursts_.end(), [](const auto& a, const auto& b) {
    return a.last_event_s < b.last_event_s;
  }));
}

Change IncidentTracker::open(const Event& event) {
  Burst burst;
  auto& incident = burst.incident;
  incident = incident_of(node_, event);
  incident.lines = 0;
  burst.last_event_s = event.unix_s;
  burst.evacuated = evacuates(event.verdict);
  burst.was_urgent = urgency_of(event.verdict) == Urgency::kAtOnce;
  note_event(burst, event);
  incident.count = 1;
  blame_ends(burst, event);
  Change change{Change::Kind::kOpened, incident, burst.evacuated, false};
  bursts_.push_back(std::move(burst));
  forget_oldest();
  return change;
}

// False for a line that repeats an event of the last seconds.
bool IncidentTracker::note_event(Burst& burst, const Event& event) {
  auto& incident = burst.incident;
  ++incident.lines;
  add_once(incident.places, place_of(event));
  burst.last_event_s = std::max(burst.last_event_s, event.unix_s);
  const auto kind = place_of(event) + "/" + label_of(event);
  const auto last = burst.last_of.find(kind);
  const bool is_new =
      last == burst.last_of.end() || event.unix_s - last->second > kSameEventSeconds;
  if (last != burst.last_of.end()) {
    last->second = event.unix_s;
  } else if (burst.last_of.size() < kMostNotes) {
    burst.last_of.emplace(kind, event.unix_s);
  }
  return is_new;
}

void IncidentTracker::set_root(Burst& burst, const Event& event) {
  auto& incident = burst.incident;
  if (label_of(incident.root) != label_of(event))
    add_once(incident.companions, label_of(incident.root));
  std::erase(incident.companions, label_of(event));
  incident.root = event;
  incident.count = 1;
}

// Errors of a link show at both ends. The end that most pairs share is to blame; a line that blames
// the other end counts for that one. True when that moved the root.
bool IncidentTracker::blame_ends(Burst& burst, const Event& event) {
  if (family_of(event) != Family::kLink || event.sxid) return false;
  const auto here = place_of(event);
  if (burst.link_events.size() < kMostNotes) burst.link_events.try_emplace(here, event);
  if (!event.blames_peer) ++burst.blame[here];
  if (event.peer) ++burst.blame[to_string(*event.peer)];
  if (burst.blame.size() > 2 * kMostNotes) burst.blame.clear();
  const auto& root = burst.incident.root;
  if (family_of(root) != Family::kLink || root.sxid) return false;
  const auto score = [&](const std::string& place) {
    const auto found = burst.blame.find(place);
    return found == burst.blame.end() ? 0 : found->second;
  };
  const Event* worst = nullptr;
  for (const auto& [place, first] : burst.link_events)
    if (score(place) > score(worst ? place_of(*worst) : place_of(root))) worst = &first;
  if (!worst || (evacuates(root.verdict) && !evacuates(worst->verdict))) return false;
  const auto count = burst.incident.count;
  const auto before = root.verdict;
  set_root(burst, Event(*worst));
  burst.incident.count = count;
  auto& verdict = burst.incident.root.verdict;
  // Whoever is to blame, people look at the fabric if one of the ends asked for it.
  if (!evacuates(verdict) && strength(before.action) > strength(verdict.action)) {
    verdict.action = before.action;
    verdict.severity = std::max(verdict.severity, before.severity);
  }
  return true;
}

std::optional<Change> IncidentTracker::join(Burst& burst, const Event& event) {
  auto& incident = burst.incident;
  if (is_recovery(event)) {
    ++incident.lines;
    burst.reopens_s = event.unix_s;
    incident.outcome = "the driver says that nothing is needed any more";
    return Change{Change::Kind::kClosed, incident, false, false};
  }
  const bool is_new = note_event(burst, event);
  const bool is_root_kind = label_of(event) == label_of(incident.root);
  if (is_root_kind) {
    incident.count += is_new;
  } else {
    add_once(incident.companions, label_of(event));
  }
  bool changed = strengthen_root(burst, event);
  changed |= blame_ends(burst, event);
  if (!changed) return std::nullopt;
  auto& root = incident.root.verdict;
  // Jobs that are being brought elsewhere are not called back.
  if (burst.was_urgent) root.at_job_end = false;
  const bool acts = evacuates(root);
  const bool is_urgent = urgency_of(root) == Urgency::kAtOnce;
  Change change{Change::Kind::kStronger, incident, acts && !burst.evacuated,
                burst.evacuated && is_urgent && !burst.was_urgent};
  burst.evacuated |= acts;
  burst.was_urgent |= is_urgent;
  return change;
}

// True when the event gave the burst another root, or the root a stronger verdict.
bool IncidentTracker::strengthen_root(Burst& burst, const Event& event) {
  auto& incident = burst.incident;
  auto& root = incident.root.verdict;
  // The driver's own word on what the GPU needs, or the same fault with more behind it.
  const bool strengthens =
      (event.xid == kRecoveryXid || label_of(event) == label_of(incident.root)) &&
      strength(event.verdict.action) > strength(root.action);
  // What takes the node out of service is never hidden behind something that does not, nor what
  // brings its jobs elsewhere at once behind something that can wait.
  const auto before = urgency_of(root);
  const auto now = urgency_of(event.verdict);
  const bool outranks = now != before ? now > before : event.rank > incident.root.rank;
  if (!strengthens && !outranks) return false;
  const bool is_here = place_of(event) == place_of(incident.root);
  if (!strengthens || !is_here || event.rank > incident.root.rank) {
    set_root(burst, event);
    return true;
  }
  root.action = event.verdict.action;
  root.severity = std::max(root.severity, event.verdict.severity);
  if (now > before) root.at_job_end = event.verdict.at_job_end;
  return true;
}

std::optional<Change> IncidentTracker::observe(const Event& event) {
  if (auto* burst = find_burst(event))
    return join(*burst, with_gpu_of(burst->incident.root, event));
  if (is_follower(event) || is_recovery(event) || event.rank == 0 ||
      event.verdict.action == Action::kIgnore)
    return std::nullopt;
  return open(event);
}

void IncidentTracker::update(const Incident& incident) {
  auto burst = std::find_if(bursts_.begin(), bursts_.end(),
                            [&](const Burst& known) { return known.incident.id == incident.id; });
  if (burst == bursts_.end()) {
    Burst known;
    known.incident = incident;
    known.last_event_s = incident.root.unix_s;
    known.evacuated = evacuates(incident.root.verdict);
    known.was_urgent = urgency_of(incident.root.verdict) == Urgency::kAtOnce;
    add_once(known.incident.places, place_of(incident.root));
    bursts_.push_back(std::move(known));
    forget_oldest();
    burst = std::find_if(bursts_.begin(), bursts_.end(),
                         [&](const Burst& one) { return one.incident.id == incident.id; });
    if (burst == bursts_.end()) return;
  }
  if (incident.closed_unix_s == 0) return;
  const auto echo_s = incident.taken_over ? 0 : kEchoSeconds;
  burst->reopens_s = std::max(burst->reopens_s, incident.closed_unix_s + echo_s);
}

void IncidentTracker::note_return(const std::string& id, std::int64_t unix_s) {
  for (auto& burst : bursts_)
    if (burst.incident.id == id) burst.returned_s = unix_s;
}

void IncidentTracker::forget_acting() {
  std::erase_if(bursts_, [](const Burst& burst) { return evacuates(burst.incident.root.verdict); });
}

std::vector<Incident> IncidentTracker::incidents() const {
  std::vector<Incident> all;
  for (const auto& burst : bursts_) all.push_back(burst.incident);
  return all;
}

}  // namespace acrf
