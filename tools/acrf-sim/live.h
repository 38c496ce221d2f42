// SPDX-License-Identifier: GPL-2.0-or-later
// A live run: a private Slurm cluster, jobs and faults by a script, ACRF's own recovery and repair,
// and the books about all of it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "books.h"
#include "control.h"
#include "job_desk.h"
#include "minicluster/cluster.h"
#include "options.h"
#include "recording.h"
#include "screen.h"
#include "workshop.h"

namespace acrf::sim {

class Live {
 public:
  explicit Live(Options options);
  // The process's exit status: 1 when it could not be done, 2 when a job was lost or ran twice.
  int run();

 private:
  using Clock = std::chrono::steady_clock;

  Status start();
  Status read_recording();
  Status start_cluster();
  Status add_hub(minicluster::ClusterOptions& wanted);
  std::int64_t now_ms() const;
  bool is_time_up() const;
  void go_on();
  void settle();
  void act(const PlannedEvent& event);
  void submit(const PlannedJob& job, int retry);
  void inject(const PlannedFault& fault);
  void look();
  void retry(const std::string& id);
  std::optional<int> nodes_out();
  void serve_control(int wait_ms);
  std::string answer(const std::string& line);
  std::string obey(const std::string& line);
  std::string state_json() const;
  Status write_report();
  int finish(const Status& outcome);
  void note(const std::string& what) { screen_.note(now_ms(), what); }

  Options options_;
  Screen screen_;
  std::unique_ptr<minicluster::Cluster> cluster_;
  std::unique_ptr<Script> script_;
  Planner* planner_ = nullptr;  // script_, unless it is a replay
  Replay* replay_ = nullptr;    // script_, if it is one
  std::optional<JobDesk> desk_;
  std::optional<Workshop> workshop_;
  std::optional<Books> books_;
  std::optional<Control> control_;
  Clock::time_point began_;
  std::int64_t began_unix_ms_ = 0;
  std::int64_t looked_ms_ = -1'000'000;
  std::set<std::string> out_;  // nodes that take no jobs
};

}  // namespace acrf::sim
