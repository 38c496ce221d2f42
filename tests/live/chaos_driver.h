// SPDX-License-Identifier: GPL-2.0-or-later
// A chaos run: carries the plan out on a private cluster, looks at everything in between, then lets
// the cluster come to rest and judges what is left. See chaos_plan.h for what is done,
// chaos_jobs.h and chaos_books.h for what is judged.
#pragma once

#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chaos_books.h"
#include "chaos_jobs.h"
#include "chaos_plan.h"
#include "minicluster/cluster.h"

namespace acrf::minicluster {

class ChaosDriver {
 public:
  // What a cluster needs for chaos, put into its options before it starts.
  static void prepare(ClusterOptions& options);

  ChaosDriver(Cluster& cluster, std::uint64_t seed, int seconds);

  // An Error says that the harness itself could not go on.
  Status run();

  // What the product did wrong; empty: nothing.
  const std::vector<std::string>& wrongs() const { return wrongs_; }
  const std::vector<std::string>& timeline() const { return timeline_; }
  // What happened and how often, in the order of a table's rows.
  std::vector<std::pair<std::string, int>> counts() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Ending {  // of a disturbance that lasts
    std::int64_t at_ms;
    PlannedDisturbance what;
    std::string process;  // a frozen one: "PID STARTTIME"
  };

  double seconds() const;
  std::int64_t now_ms() const;
  Status set_up();
  Status go_through_plan();
  Status wait_until_ms(std::int64_t at_ms);
  Status begin(const PlannedDisturbance& what);
  Status end(const Ending& ending);
  Status end_due(std::int64_t at_ms);
  Status submit(const PlannedJob& job);
  bool is_disturbed(std::initializer_list<Disturbance> kinds) const;
  // One of the controllers is there to answer.
  bool controller_answers() const;
  int takeovers() const;  // by the backup, so far

  // Single disturbances
  Status kill_controller_in_charge(const std::string& daemon);
  Status kill_backup();
  Status freeze_controller(const std::string& daemon, std::int64_t for_ms);
  void signal_process(const PlannedDisturbance& what);
  void inject(const std::string& node, const PlannedDisturbance& what);
  void fill_disk(const std::string& node);
  Status kill_node(const std::string& node);
  Status boot_node(const std::string& node);
  Status reboot_node(const std::string& node, bool new_gpus);
  // What the site's programs ask machines and people for.
  Status serve_people();
  void put_back(const std::string& node);
  bool is_left_to_people(const std::string& node) const;
  void mend_gpus(const std::string& node, bool new_ones);

  Status look();
  void look_at_proofs();
  Status settle();
  bool is_at_rest(const std::vector<JobRecord>& jobs, const std::vector<NodeRecord>& nodes) const;
  void judge(const std::vector<JobRecord>& jobs, const std::vector<NodeRecord>& nodes);
  std::optional<std::vector<NodeRecord>> nodes() const;
  std::optional<std::vector<JobRecord>> jobs() const;
  std::vector<std::string> sick_nodes() const;
  // A command inside the cluster's mounts, where the nodes' small disks are.
  CommandResult run_inside(const std::vector<std::string>& command) const;
  std::string name_of_node(int number) const { return cluster_.nodes()[std::size_t(number)]; }
  void note(const std::string& what);
  void complain(const std::string& what);

  Cluster& cluster_;
  ChaosPlan plan_;
  ChaosJobs jobs_;
  ChaosBooks books_;
  Clock::time_point begun_ = Clock::now();
  std::vector<Ending> endings_;
  std::map<Disturbance, int> done_;
  std::map<std::string, int> boots_, states_, proofs_read_;
  int restarts_ = 0, takeovers_before_ = 0;
  std::future<void> waker_;  // of a frozen controller
  std::vector<std::string> wrongs_, timeline_;
};

}  // namespace acrf::minicluster
