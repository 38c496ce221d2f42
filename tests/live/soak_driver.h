// SPDX-License-Identifier: GPL-2.0-or-later
// A soak of a private cluster: random jobs, and everything that befalls jobs and nodes in the
// meantime, while slurmctld's books are looked at again and again. The seed fixes what is asked of
// Slurm and in which order; when Slurm does it is its own affair.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "core/node_health.h"
#include "minicluster/cluster.h"
#include "soak_books.h"
#include "unit/random.h"

namespace acrf::minicluster {

class SoakDriver {
 public:
  // `guarded`: GPUs in quarantine must not be given to jobs.
  SoakDriver(Cluster& cluster, std::uint64_t seed, bool guarded)
      : cluster_(cluster), random_(seed), guarded_(guarded) {}

  // Until this many jobs were accepted.
  void run(int jobs);
  // Ends all that goes on: nodes back in service, reservations gone, no job left. GPUs in
  // quarantine stay so.
  void settle();

  // What was not as it must be so far.
  std::vector<std::string> wrongs() const;
  // Looks at all nodes now.
  std::vector<NodeRecord> nodes();
  std::vector<JobRecord> jobs();
  // GPUs that jobs can have in a settled cluster.
  int healthy_gpus() const;
  void heal_all();
  std::string summary() const;

 private:
  enum class Card : int;
  std::vector<Card> shuffled_deck();
  void play(Card card);

  // Jobs
  void submit();
  void cancel_one();
  void requeue_one();
  void hold_one();
  void release_one();
  void suspend_one();
  void resume_one();
  void shrink_one();
  void hasten_one();
  void keep_queue_short();

  // Nodes, daemons and reservations
  void drain_one();
  void fail_one();
  void bring_one_back();
  // Also nodes that slurmctld itself took out. True when all are idle.
  bool bring_all_back();
  void change_health();
  void set_health(const std::string& node, const NodeHealth& health);
  void restart_slurmd();
  void restart_slurmctld(int signal);
  void check_tokens();
  void reserve();
  void unreserve();
  void delete_reservations();

  // Looks
  std::vector<JobRecord> look();
  void look_closely();
  void check_daemons();

  // Runs an admin's or user's command; it may fail, but for a silent slurmctld.
  CommandResult run_command(const std::vector<std::string>& words);
  std::string random_node();
  // The job ids that squeue shows in these states, or one of them; empty when there is none.
  std::vector<std::string> queued(const std::string& states);
  std::string one_queued(const std::string& states);
  void complain(const std::string& what);
  // In the log of the soak.
  void note(const std::string& what);

  Cluster& cluster_;
  Random random_;
  bool guarded_;
  SoakBooks books_;
  std::map<std::string, NodeHealth> health_;
  std::vector<std::string> out_of_service_;
  std::vector<std::string> reservations_;
  std::vector<std::string> complaints_;
  std::map<std::string, int> counts_;  // of events, for the summary
  int accepted_ = 0, refused_ = 0, restarts_ = 0, next_reservation_ = 0;
};

}  // namespace acrf::minicluster
