// SPDX-License-Identifier: GPL-2.0-or-later
// From events to incidents: what one broken GPU says many times, and through several sources, is
// one incident with one name. The name depends on what was observed and on nothing else, so that a
// daemon that reads the same line again after a crash finds the incident it already has.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/fault.h"

namespace acrf {

// How far the handling has come. Each phase is recorded before the next one's first act.
enum class Phase {
  kSeen,     // known, nothing touched
  kDrained,  // the node was drained by this incident, or found drained
  kDone,     // jobs are taken care of, or an admin took the case over
};

std::string_view name_of(Phase phase);
std::optional<Phase> parse_phase(std::string_view name);

struct Incident {
  std::string id;
  std::string node;
  Event root;
  Phase phase = Phase::kSeen;
  bool enforced = false;            // Mode at the time it was opened
  std::int64_t drained_unix_s = 0;  // when this incident last drained its node
  std::int64_t closed_unix_s = 0;   // when its handling ended; 0: it has not, or there was none
  bool taken_over = false;          // it ended because an admin resumed the node
  std::string outcome;              // for people: what was done
};

// "ACRF: gpu_lost 0000:1a:00 reboot_node [id]"
std::string drain_reason(const Incident& incident);

// True for a node reason that ACRF itself wrote.
bool is_acrf_reason(std::string_view reason);
bool reason_names(std::string_view reason, const Incident& incident);

class IncidentTracker {
 public:
  explicit IncidentTracker(std::string node) : node_(std::move(node)) {}

  // A new incident, or nothing when the event belongs to one already known: same class and GPU in
  // the same boot within three hours of its last event. An incident whose handling has ended takes
  // in only what follows within a minute, and none at all if an admin has resumed the node: the
  // node may be in service again, and the next event deserves a look.
  std::optional<Incident> observe(const Event& event);

  // Makes known an incident that was recorded before a restart, or that its handling has ended.
  void update(const Incident& incident);

 private:
  struct Known {
    std::int64_t last_event_s = 0;
    std::int64_t reopens_s = 0;  // events later than this open a new incident; 0: none do
  };
  using Key = std::pair<std::string, PciAddress>;  // class, boot and place, GPU
  static Key key_of(const Event& event);

  std::string node_;
  std::map<Key, Known> known_;
};

}  // namespace acrf
