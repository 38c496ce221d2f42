// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a neighbour has died. A node that dies whole can tell nobody, so each node is watched by
// four others. One sign is none: an acrf-healthd that is silent may have crashed alone, and a
// slurmd that is silent may be about to be restarted while its jobs run on. Only a node of which
// neither answers, for some time, is dead; and a watcher that misses more than half of those it
// watches is itself the one that is cut off.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace acrf {

// For how long, and in how many looks, something has not answered.
class Silence {
 public:
  void note(bool answers, std::int64_t at_ms);
  bool holds(std::int64_t ms, int looks) const {
    return looks_ >= looks && last_ms_ - since_ms_ >= ms;
  }
  bool is_broken() const { return looks_ == 0; }

 private:
  std::int64_t since_ms_ = 0;  // of the first look without an answer
  std::int64_t last_ms_ = 0;
  int looks_ = 0;
};

struct PeerTimes {
  std::int64_t fresh_ms = 2000;        // for so long after an answer it is alive
  std::int64_t silence_ms = 3000;      // of acrf-healthd, before its slurmd is asked
  std::int64_t confirm_ms = 3000;      // of both, before the node is called dead
  int looks = 3;                       // at slurmd in that time, at least
  std::int64_t farewell_ms = 120'000;  // instead of silence_ms, after an orderly stop
};

enum class PeerVerdict {
  kUnheard,  // it has not answered yet: perhaps it has no acrf-healthd
  kAlive,
  kUnknown,  // silent, but not for long, or it has said that it stops
  kSuspect,  // acrf-healthd is silent: ask its slurmd
  kDead,     // neither answers
};

// What one look at a peer gave.
struct PeerSigns {
  std::int64_t at_ms = 0;
  bool healthd_answers = false;
  bool said_farewell = false;          // and has not answered since
  std::optional<bool> slurmd_answers;  // absent: it was not asked
};

class PeerRecord {
 public:
  explicit PeerRecord(const PeerTimes& times) : times_(times) {}

  PeerVerdict note(const PeerSigns& signs);
  // What was not answered while this watcher was cut off itself speaks against nobody.
  void forget_looks() { slurmd_ = {}; }
  // 0 for one that was never heard.
  std::int64_t silent_ms(std::int64_t now_ms) const { return heard_ms_ ? now_ms - *heard_ms_ : 0; }
  // Its slurmd answered when it was last asked, and acrf-healthd does not.
  bool only_slurmd_answers() const { return slurmd_answered_; }

 private:
  PeerTimes times_;
  std::optional<std::int64_t> heard_ms_;  // from acrf-healthd
  Silence slurmd_;
  bool slurmd_answered_ = false;
};

// The verdicts as they may be acted on: when more than half of the peers that were ever heard are
// silent, it is the watcher, and none of them is dead or suspect.
std::vector<PeerVerdict> judge_peers(std::vector<PeerVerdict> verdicts);

// A node to watch, and how many others go before this watcher when it is dead.
struct Neighbour {
  std::string name;
  int rank = 0;
};

// The two nodes on each side of `self` in a ring of all names, fewer in a small cluster, none when
// it is not among them. The ring's order comes from the names' fingerprints, so that everybody
// knows it and a dead rack has watchers in other racks; two watchers of a node mostly watch each
// other. Who does not take part is passed over; a few names on each side are asked about.
std::vector<Neighbour> neighbours_of(std::vector<std::string> names, const std::string& self,
                                     const std::function<bool(const std::string&)>& takes_part);

}  // namespace acrf
