// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a neighbour has died. A node that dies whole can tell nobody, so each node is watched by
// its next two neighbours in the node table. One sign is none: acrf-healthd that is silent may have
// crashed alone, and a slurmd that is silent may be about to be restarted while its jobs run on.
// Only a node of which neither answers, for some time, is dead; and a watcher that hears nobody at
// all is itself the one that is cut off.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace acrf {

struct PeerTimes {
  std::int64_t silence_ms = 3000;  // of acrf-healthd, before its slurmd is asked
  std::int64_t confirm_ms = 3000;  // of both, before the node is called dead
  int looks = 3;                   // at slurmd in that time, at least
};

enum class PeerVerdict {
  kAlive,
  kUnknown,  // silent, but not for long, or nobody can tell
  kSuspect,  // acrf-healthd is silent: ask its slurmd
  kDead,     // neither answers
};

// What one look at a peer gave.
struct PeerSigns {
  std::int64_t at_ms = 0;
  bool healthd_answers = false;
  std::optional<bool> slurmd_answers;  // absent: it was not asked
};

class PeerRecord {
 public:
  PeerRecord(const PeerTimes& times, std::int64_t now_ms) : times_(times), heard_ms_(now_ms) {}

  PeerVerdict note(const PeerSigns& signs);
  std::int64_t silent_ms(std::int64_t now_ms) const { return now_ms - heard_ms_; }

 private:
  PeerTimes times_;
  std::int64_t heard_ms_;               // from acrf-healthd
  std::int64_t slurmd_silent_ms_ = -1;  // since when slurmd does not answer; below 0: it does
  int looks_ = 0;
};

// The verdicts as they may be acted on: when all of several peers are silent, it is the watcher.
std::vector<PeerVerdict> judge_peers(std::vector<PeerVerdict> verdicts);

// The `count` nodes that follow `self` in the table, as a ring; fewer in a small cluster. None when
// the table does not name it.
std::vector<std::string> peers_of(const std::vector<std::string>& table, const std::string& self,
                                  int count);

// What slurmctld says of a node that is called dead.
struct DeadNodeView {
  bool draining = false;  // by whomever
  bool down = false;
  bool in_service = true;   // false: powered down, being rebooted, in maintenance: nobody's fault
  int completing_jobs = 0;  // that slurmctld waits for on this node
  std::int64_t drained_for_s = 0;
};

enum class DeadNodeStep {
  kNothing,
  kDrain,  // always before kDown: a node that is only down comes back with its slurmd
  kWait,   // 22.05 forgets the requeue of a job that completes when its node goes down
  kDown,   // slurmctld requeues its jobs
};
// Asked again after each step, with a fresh view.
DeadNodeStep plan_dead_node(const DeadNodeView& node);

}  // namespace acrf
