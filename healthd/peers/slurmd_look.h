// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a slurmd serves its port, seen from anywhere and without a credential: a connection that
// sends nothing and ends is closed by a slurmd that lives, with a line in its log. One that hangs
// leaves it open, and where none is there the connection is refused or nobody answers. libslurm is
// not asked: its calls wait for MessageTimeout.
#pragma once

#include <poll.h>

#include <chrono>
#include <optional>
#include <string>

#include "common/unique_fd.h"

namespace acrf {

class SlurmdLook {
 public:
  using Clock = std::chrono::steady_clock;

  void start(const std::string& address, int port, Clock::time_point now);
  bool is_under_way() const { return under_way_; }
  // Of the last start: the address is one.
  bool is_possible() const { return possible_; }
  Clock::time_point deadline() const { return deadline_; }
  pollfd poll_entry() const;

  // The answer, once: whether it serves. Nothing: not yet.
  std::optional<bool> step(Clock::time_point now);
  // Of the last answer: no slurmd is there at all, and the machine says so.
  bool was_refused() const { return refused_; }

 private:
  std::optional<bool> end(bool serves);

  UniqueFd fd_;
  bool under_way_ = false;
  bool connected_ = false;
  bool refused_ = false;
  bool possible_ = false;
  Clock::time_point deadline_;
};

// Looks until it serves or the time is up; waits. Where the address can't be one, nothing is held
// against it.
bool slurmd_serves(const std::string& address, int port, std::chrono::milliseconds patience);

}  // namespace acrf
