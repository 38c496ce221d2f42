// SPDX-License-Identifier: GPL-2.0-or-later
// Whether this node's own slurmd still serves. It is asked by Slurm's own call in a worker that can
// be killed; when that brings no answer, by a connection of our own as well, which needs neither
// munge nor libslurm. A slurmd that takes connections and serves none, by both, is hung. One that
// is not there at all is being restarted, or Slurm's own time limit ends its node.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/peer_watch.h"
#include "peers/peer_link.h"
#include "peers/slurmd_look.h"
#include "sources/probe.h"

namespace acrf {

class SlurmdWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // `silence_s` 0: it is never asked.
  SlurmdWatch(const std::string& program, const std::string& node, int silence_s);

  void add_poll_fds(std::vector<pollfd>& fds) const;
  Clock::time_point next_wake() const;

  enum class News {
    kAnswers,  // it was asked and answered
    kHung,     // newly
  };
  std::optional<News> step(Clock::time_point now, const std::optional<PeerPlace>& self);

  // From any thread.
  bool is_hung() const { return hung_; }

 private:
  std::optional<bool> ask(Clock::time_point now);
  std::optional<News> note_look(bool serves, Clock::time_point now);

  int silence_s_;
  std::unique_ptr<Probe> probe_;
  SlurmdLook look_;
  Silence silence_;
  Clock::time_point next_ask_;
  bool is_silent_ = false;  // by Slurm's call: look by ourselves
  std::atomic<bool> hung_ = false;
};

// The worker: one line "yes" or "no" for each request.
int run_slurmd_probe();

}  // namespace acrf
