// SPDX-License-Identifier: GPL-2.0-or-later
// One srun as a child of the launcher.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace acrf {

class StepProcess {
 public:
  StepProcess() = default;
  StepProcess(const StepProcess&) = delete;
  StepProcess& operator=(const StepProcess&) = delete;
  // A step that still runs is killed.
  ~StepProcess();

  // `variables` ("NAME=value") come on top of this process's own environment.
  Status start(std::vector<std::string> command, const std::vector<std::string>& variables);
  bool runs() const { return pid_ > 0; }
  void signal(int signal);
  // Exit status once it has ended: the program's own, or 128 + signal.
  std::optional<int> ended();
  // srun kills its tasks when it is asked to end; they get no time.
  void ask_to_end() { signal(SIGTERM); }
  // Waits for srun, which was asked; a task on a node that no longer answers is left to slurmctld
  // when the time is up.
  void stop(std::chrono::milliseconds patience);

 private:
  pid_t pid_ = -1;
};

}  // namespace acrf
