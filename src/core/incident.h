// SPDX-License-Identifier: GPL-2.0-or-later
// From events to incidents: what one broken part says many times, in many words and through several
// sources, is one incident with one root and one name. The name depends on what was observed first
// and on nothing else, so that a daemon that reads the same line again after a crash finds the
// incident it already has.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/fault.h"
#include "core/last_checkpoint.h"

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
  bool enforced = false;               // Mode at the time it was opened
  std::optional<int> gpu_index;        // of the root's GPU, as Slurm counts; nothing: not known
  int node_gpus = 0;                   // that the node should have
  std::optional<int> quarantined_gpu;  // this GPU alone is kept from jobs, in Slurm's numbers
  std::int64_t drained_unix_s = 0;     // when this incident last drained its node
  std::int64_t closed_unix_s = 0;      // when its handling ended; 0: it has not, or there was none
  bool taken_over = false;             // it ended because an admin resumed the node
  std::string outcome;                 // for people: what was done
  std::vector<LastCheckpointOrder> last_checkpoints;  // that its jobs were asked for

  // What the burst holds so far.
  int count = 1;                        // events of the root's kind; lines within 5 s are one
  std::int64_t lines = 1;               // everything that was taken in
  std::vector<std::string> companions;  // other kinds, "xid 45", in the order they came
  std::vector<std::string> places;      // where, the first one first
};

// A new one, with its lasting name.
Incident incident_of(const std::string& node, const Event& event);

// "ACRF: gpu_lost 0000:1a:00 reboot_node [id]"
std::string drain_reason(const Incident& incident);

// True for a node reason that ACRF itself wrote.
bool is_acrf_reason(std::string_view reason);
bool reason_names(std::string_view reason, const Incident& incident);

// What an event did to the incidents.
struct Change {
  enum class Kind {
    kOpened,    // a new one
    kStronger,  // a known one has a stronger root, or its root a stronger action; the id stays
    kClosed,    // the driver says that the GPU needs nothing any more
  };
  Kind kind = Kind::kOpened;
  Incident incident;
  bool newly_evacuates = false;  // it takes the node out of service, and did not before
  bool newly_urgent = false;     // it did so when the jobs had ended, and now does at once
};

class IncidentTracker {
 public:
  // Remembers so many incidents; the one without news for longest goes first.
  explicit IncidentTracker(std::string node, std::size_t most = 256)
      : node_(std::move(node)), most_(most) {}

  // Takes the event into the burst it belongs to: events of one place less than 180 s apart, or,
  // for faults that come back for hours, of one class within three. Faults of NVLink and the bus
  // and a GPU that is lost belong together across places, as do the faults of one program on many
  // GPUs; what takes a GPU out of service that a burst only touched opens an incident of its own.
  // The earliest event of the highest rank is the root; what takes the node out of service
  // goes before what does not, and what does so at once before what waits for the jobs' end. An
  // incident whose handling has ended takes in only what follows within a minute, and none at all
  // if an admin has resumed the node: the node may be in service again, and the next event deserves
  // a look. Nothing: no news.
  std::optional<Change> observe(const Event& event);

  // Makes known an incident that was recorded before a restart, or that its handling has ended.
  void update(const Incident& incident);

  // The incident's part has been repaired and is in service: an event later than this is a new
  // fault.
  void note_return(const std::string& id, std::int64_t unix_s);

  // What takes the node out of service is news again when it shows again.
  void forget_acting();

  // All that are remembered, the oldest first.
  std::vector<Incident> incidents() const;

 private:
  struct Burst {
    Incident incident;
    std::int64_t last_event_s = 0;
    std::int64_t reopens_s = 0;   // events later than this open a new incident; 0: none do
    std::int64_t returned_s = 0;  // the same, by a repair
    std::map<std::string, std::int64_t> last_of;  // place and kind -> time, for the 5 s
    std::map<std::string, int> blame;             // place -> link pairs it is an end of
    std::map<std::string, Event> link_events;     // place -> its first event of a link
    bool evacuated = false;
    bool was_urgent = false;
  };

  Burst* find_burst(const Event& event);
  bool takes_in(const Burst& burst, const Event& event) const;
  Change open(const Event& event);
  std::optional<Change> join(Burst& burst, const Event& event);
  static bool note_event(Burst& burst, const Event& event);
  static bool strengthen_root(Burst& burst, const Event& event);
  static void set_root(Burst& burst, const Event& event);
  static bool blame_ends(Burst& burst, const Event& event);
  void forget_oldest();

  std::string node_;
  std::size_t most_;
  std::vector<Burst> bursts_;
};

}  // namespace acrf
