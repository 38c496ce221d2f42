// SPDX-License-Identifier: GPL-2.0-or-later
// What has become of the jobs and the broken GPUs of a run: fed with what was done and seen, asked
// for figures. Times are milliseconds since the run began. A job is lost when it neither ended its
// work nor failed by its own doing, and nobody knows it any more; it ran twice when two of its runs
// held it at once or two ended its work. Work that a fault overtook before Slurm knew of its end is
// redone, and rightly so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan.h"

namespace acrf::sim {

// A line that a job writes about itself.
struct RunLine {
  enum class What { kBegin, kEnd, kFail, kTwice, kFault } what = What::kBegin;
  int restart = 0;
  std::int64_t at_ms = 0;
  std::vector<std::string> nodes;  // of a beginning
  std::string text;                // of a failure; the node of a fault
};

// A job as squeue shows it.
struct QueueRow {
  std::string id;
  std::string state;  // "RUNNING"
  std::string reason;
  int nodes = 0;
  bool held = false;
};

struct JobBook {
  std::string id;
  PlannedJob plan;
  int retry = 0;
  std::int64_t submitted_ms = 0;
  std::string state = "PENDING";
  std::string reason;
  std::vector<RunLine> lines;
  std::int64_t closed_ms = -1;  // when its end was seen
  bool is_closed() const { return closed_ms >= 0; }
  const RunLine* find(RunLine::What what) const;  // the first of them
};

struct FaultBook {
  PlannedFault plan;
  std::string node;
  std::int64_t at_ms = 0;
  bool harmful = true;
};

struct Recovery {
  std::string job;
  std::string node;
  double seconds = 0;  // from the fault to the next run's beginning
  std::int64_t at_ms = 0;
};

// One look, for plots.
struct Sample {
  std::int64_t at_ms = 0;
  int pending = 0, running = 0, completed = 0, failed = 0;
  int nodes_out = 0;  // drained or down
  int sick_gpus = 0;  // being repaired, or their nodes
  double gpu_share = 0;
};

struct Repair {
  std::string node;
  std::string fault_class;
  double seconds = 0;  // from the case's opening to the return
  std::int64_t at_ms = 0;
};

struct Figures {
  int submitted = 0, pending = 0, running = 0, completed = 0, failed = 0, held = 0, retried = 0;
  int requeued = 0;  // runs beyond the first ones
  int redone = 0;    // ended work that a fault took back before Slurm knew of it
  int injected = 0, by_jobs = 0, skipped = 0, repaired = 0, under_repair = 0;
  int recovered = 0;
  std::optional<double> recover_p50_s, recover_p99_s, recover_max_s;
  std::optional<double> waiting_p50_s, waiting_p99_s;
  std::optional<double>
      ettr;              // of completed jobs: planned work over the time since the first start
  double gpu_share = 0;  // allocated GPUs, mean over the run
  std::vector<std::string> wrongs;  // lost jobs, jobs that ran twice
};

class Books {
 public:
  explicit Books(int gpus) : gpus_(gpus) {}

  void submit(const std::string& id, const PlannedJob& plan, int retry, std::int64_t now_ms);
  void add_line(const std::string& id, const RunLine& line);
  void inject(const PlannedFault& fault, const std::string& node, bool harmful,
              std::int64_t now_ms);
  void skip_fault() { ++skipped_; }
  // A repair as ACRF's own record shows it; one that is over is counted once.
  void see_case(const std::string& node, const std::string& key, const std::string& fault_class,
                std::int64_t opened_ms, bool back, std::int64_t now_ms);
  // All jobs that slurmctld knows. Gives the jobs whose end was seen now.
  std::vector<std::string> look(const std::vector<QueueRow>& rows, int nodes_out,
                                std::int64_t now_ms);

  // Jobs whose lines are worth reading.
  std::vector<std::string> open_jobs() const;
  const std::map<std::string, JobBook>& jobs() const { return jobs_; }
  const std::vector<std::string>& order() const { return order_; }  // of submission
  const std::vector<FaultBook>& faults() const { return faults_; }
  const std::vector<Sample>& samples() const { return samples_; }
  const std::vector<Repair>& repairs() const { return repairs_; }
  std::vector<Recovery> recoveries() const;
  Figures figures() const;

 private:
  void judge_end(const JobBook& job, Figures& figures) const;
  void judge_ends(const JobBook& job, Figures& figures) const;
  std::optional<Recovery> recovery_of(const JobBook& job, std::size_t begin) const;

  int gpus_;
  std::map<std::string, JobBook> jobs_;
  std::vector<std::string> order_;
  std::vector<FaultBook> faults_;
  std::vector<Sample> samples_;
  std::vector<Repair> repairs_;
  std::set<std::string> open_cases_, closed_cases_;
  std::set<std::string> open_;
  int by_jobs_ = 0, skipped_ = 0, retried_ = 0;
  double share_ms_ = 0;  // GPU share times milliseconds
};

// The value below which this share of them lies; nothing of none.
std::optional<double> quantile(std::vector<double> values, double share);

}  // namespace acrf::sim
