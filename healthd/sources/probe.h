// SPDX-License-Identifier: GPL-2.0-or-later
// A vendor library in a process of its own. A call that hangs in a driver can't be cancelled, but
// its process can be killed: the daemon goes on, and the hang is itself a finding.
//
// The daemon writes one line per request to the probe's standard input and reads one line of JSON
// per answer from its standard output; lines "at GPU" say which GPU the library is asked about
// next.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "core/result.h"

namespace acrf {

// Where a worker tells which GPU the library is being asked about: nobody wakes up for that.
constexpr int kPlaceFd = 3;

class Probe {
 public:
  using Clock = std::chrono::steady_clock;

  // `command` is started at the first request and again after each end.
  Probe(std::vector<std::string> command, std::vector<std::string> extra_environment)
      : command_(std::move(command)), extra_environment_(std::move(extra_environment)) {}
  ~Probe() { stop(); }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  // Asks for an answer by `deadline`, with one line of at most 4 kB. A request that is still open
  // stays the one that counts. Fails while a killed probe has not ended: a second one would get
  // stuck in the driver as well.
  Status request(Clock::time_point deadline, const std::string& line = "sample");

  bool waiting() const { return deadline_.has_value(); }
  std::optional<Clock::time_point> deadline() const { return deadline_; }
  int poll_fd() const { return output_.get(); }

  // A whole answer when one has arrived; an Error when the probe ended instead.
  Result<std::optional<std::string>> take_answer();

  // The GPU that the library was last asked about in the request that is open, or empty.
  const std::string& place();

  // Ends the process; with SIGKILL if it does not go at once, for it may be stuck in a driver.
  void stop();

 private:
  Status start();
  bool process_has_ended(int wait_ms) const;

  std::vector<std::string> command_;
  std::vector<std::string> extra_environment_;
  pid_t pid_ = -1;
  UniqueFd process_;  // readable when the process has ended; kept for as long as it has not
  UniqueFd input_;
  UniqueFd output_;
  UniqueFd places_;
  std::string pending_;
  std::string place_;
  std::optional<Clock::time_point> deadline_;
};

}  // namespace acrf
