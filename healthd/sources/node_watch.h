// SPDX-License-Identifier: GPL-2.0-or-later
// All checks of the node besides its GPUs: one worker process for /sys and /proc, one for each file
// system and one for each site check, so that what hangs, hangs alone. The watching thread asks
// them when they are due, kills those that are late and never waits.
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/node_verdict.h"
#include "sources/probe.h"

namespace acrf {

class NodeWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // `program` is acrf-healthd itself; `gres_conf` a path.
  NodeWatch(const Config& config, const std::string& program, const std::string& node,
            const std::string& gres_conf);

  // Tasks that `before` has as well go on as they are there, with their process and memory.
  void take_over(NodeWatch& before);

  void add_poll_fds(std::vector<pollfd>& fds) const;
  Clock::time_point next_wake() const;  // time_point::max() when there is nothing to do

  // Takes answers, kills what is late, asks what is due. True when an answer or a failure came in.
  bool step(Clock::time_point now);

  // What is wrong now, without what is only in shadow.
  std::vector<Finding> findings() const;
  // Why something that should be known is not.
  std::vector<std::string> silent() const;

 private:
  enum class Failure { kNone, kHung, kOther };
  struct Answer {
    std::string line;
    Failure failure = Failure::kNone;
    std::string why;
  };
  struct Task {
    std::string name;
    std::string definition;  // what it depends on in acrf.conf
    std::unique_ptr<Probe> probe;
    std::chrono::seconds interval;
    std::chrono::seconds timeout;
    std::function<std::vector<Finding>(const Answer&, const std::vector<Finding>& before)> judge;
    bool is_shadow = false;
    bool has_memory = false;  // its worker stays between two requests
    bool is_needed = false;   // its silence makes the node's state unknown
    Clock::time_point next{};
    std::vector<Finding> findings{};
    std::string problem{};
  };

  void add_node_task(const Config& config, const std::string& program, const std::string& node,
                     const std::string& gres_conf);
  void add_file_system_task(const Config& config, const std::string& program,
                            const std::string& path);
  void add_check_task(const CheckRule& rule, const std::string& program, const std::string& node);
  bool step_task(Task& task, Clock::time_point now);
  void settle(Task& task, const Answer& answer);
  RuleMode mode_of(const Finding& finding) const;
  bool is_off(const Finding& finding) const;
  bool is_shadow(const Finding& finding) const;

  std::vector<FaultRule> rules_;
  std::vector<Task> tasks_;
};

}  // namespace acrf
