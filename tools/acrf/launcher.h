// SPDX-License-Identifier: GPL-2.0-or-later
// acrf run: starts a program on the nodes of the job that it runs in, all but the spares, and when
// one of those nodes is lost starts it again without that node, inside the same allocation.
//
// It learns of a loss from the job's own record (core/failover.h): job_submit/acrf writes it there
// and wakes the launcher with SIGURG, so that asking slurmctld now and then is enough. What it does
// it says in the job's comment, which keeps acrf-healthd from requeueing the job meanwhile; if the
// launcher dies or hangs, acrf-healthd requeues the job after some seconds.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "common/slurm_client.h"
#include "common/topology_file.h"
#include "core/failover.h"
#include "step_process.h"

namespace acrf {

struct LaunchOptions {
  std::vector<std::string> command;
  std::vector<std::string> srun;  // further options of srun
  std::string warm = "true";      // a command to run on the spares at the start; empty: none
  int tasks_per_node = 1;
  int verdict_wait_s = 10;  // how long a program that failed waits for a verdict on its nodes
};

class Launcher {
 public:
  explicit Launcher(LaunchOptions options) : options_(std::move(options)) {}

  // The program's exit status. Call once, in a process without other threads.
  Result<int> run();

 private:
  Status find_job();
  Status start_step();
  void warm_spares();
  Result<int> watch();
  // Asks for lost nodes; true when the step runs or ran on one.
  bool look_for_loss();
  // Starts the step without the lost nodes; false when there are too few left.
  Result<bool> fail_over();
  int give_up();
  int wait_for_end();
  bool verdict_comes();
  bool running_on_lost() const;
  void take_lost(const JobView& job);
  void tell(bool present);
  // True when the launcher was woken to look at the job's record.
  bool take_signals(std::chrono::milliseconds patience);
  std::vector<std::string> names(const std::vector<int>& positions) const;
  std::vector<std::string> variables();
  std::vector<std::string> srun(const std::vector<std::string>& nodes) const;

  LaunchOptions options_;
  SlurmClient slurm_;
  JobId job_;
  JobPolicy policy_;
  unsigned restart_ = 0;
  unsigned failover_ = 0;
  JobTopology network_;
  FailoverState state_;
  std::vector<std::string> lost_names_;
  StepProcess step_, warming_;
  std::string hostfile_;
  bool ending_ = false;  // a signal has asked for the end
};

}  // namespace acrf
