// SPDX-License-Identifier: GPL-2.0-or-later
// The watching loop's end of PeerWatch: it is started when slurmctld has said where the neighbours
// are, and what it finds waits here for the loop.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "actions/neighbourhood.h"
#include "peers/peer_watch.h"

namespace acrf {

class Neighbours {
 public:
  Neighbours(std::string node, int silence_s);
  ~Neighbours() { stop(); }

  // From any thread. The first one with peers begins the watch.
  void place(const Neighbourhood::Found& found);
  bool is_dead(const std::string& node) const;

  // From the loop.
  void note_turn();
  int poll_fd() const { return wake_.get(); }
  std::deque<PeerNews> take_news();
  // Where this node's own slurmd is, when that is known.
  std::optional<PeerPlace> self() const;
  void stop();

 private:
  std::string node_;
  int silence_s_;
  mutable std::mutex mutex_;  // never held while PeerWatch's thread is waited for
  std::shared_ptr<PeerWatch> watch_;
  std::optional<PeerPlace> self_;
  std::deque<PeerNews> news_;
  bool stopped_ = false;
  UniqueFd wake_;
};

}  // namespace acrf
