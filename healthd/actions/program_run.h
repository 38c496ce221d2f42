// SPDX-License-Identifier: GPL-2.0-or-later
// A program of the site (reset, reboot, test, replace) in the background: one at a time, with a
// time limit, no shell, its end and output told to who asks. It is ended with the daemon.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/check_rule.h"
#include "core/config.h"
#include "core/ladder.h"
#include "sources/probe.h"

namespace acrf {

// The path of a program that acrf.conf names, or of ACRF's own where it names none; empty: there is
// none. ACRF's own speak to real hardware: never on a test cluster.
std::string site_program(const Config& config, const std::string& setting, const char* ours);

class ProgramRun {
 public:
  using Clock = std::chrono::steady_clock;

  // `self` is acrf-healthd, whose worker mode runs the program.
  explicit ProgramRun(std::string self, std::string node)
      : self_(std::move(self)), node_(std::move(node)) {}

  // Starts it for `owner`. Fails while another one runs.
  Status start(const std::string& owner, const std::vector<std::string>& command, int limit_s,
               Clock::time_point now);
  // There is no such program: what asked for it is told so.
  void be_missing(const std::string& owner);

  // Of the owner's program. An end stays known until the owner starts another or forgets it.
  ProgramState state(const std::string& owner, Clock::time_point now);
  // What it printed, or why there is none.
  const std::string& output() const { return output_; }
  void forget(const std::string& owner);
  bool is_free() const { return owner_.empty() || ended_.has_value(); }

 private:
  void settle(const CheckResult& result);

  std::string self_, node_;
  std::string owner_;
  std::unique_ptr<Probe> worker_;
  std::optional<ProgramState> ended_;
  std::string output_;
};

}  // namespace acrf
