// SPDX-License-Identifier: GPL-2.0-or-later
// Carries incidents out on slurmctld, in a thread of its own because its calls may block for as
// long as a controller fails over. The watching side never waits for it.
//
// Each round asks slurmctld afresh and does what is left to do. An incident is finished only after
// its effect has held for as long as slurmctld may take to write its state: a controller that is
// killed earlier comes back without the drain or the requeue, and the next round does them again.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/incident_store.h"
#include "common/slurm_client.h"
#include "core/incident.h"

namespace acrf {

class Responder {
 public:
  using WhenClosed = std::function<void(const Incident&)>;

  // `when_closed` is called in the responder's thread.
  Responder(const IncidentStore& store, WhenClosed when_closed);
  // Stops after the call under way; unfinished incidents stay in the store.
  ~Responder();

  // The incident must have been saved.
  void submit(Incident incident);
  // The incident needs nothing any more. What was begun goes on to its end.
  void withdraw(const std::string& id);

 private:
  // What a look at slurmctld came to.
  enum class Round {
    kCalm,     // nothing was left to do
    kActed,    // something was done, or could not be done yet
    kRefused,  // slurmctld says no; asking again soon would not help
    kClosed,   // the case is over
  };

  void run();
  void respond(Incident& incident);
  Round one_round(Incident& incident);
  Result<NodeView> look_at_node(const std::string& name);
  Round hold_drain(Incident& incident, const NodeView& node);
  Round recover_jobs(const Incident& incident);
  bool requeue(const Incident& incident, const JobView& job, bool hold);
  void mark_drained(Incident& incident);
  void close(Incident& incident, const std::string& outcome);
  void save(const Incident& incident);
  bool is_withdrawn(const std::string& id);
  bool stopping_within(int milliseconds);

  const IncidentStore& store_;
  WhenClosed when_closed_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Incident> queue_;
  std::set<std::string> withdrawn_;
  bool stopping_ = false;
  SlurmClient slurm_;
  // Calls failed or hung since the drain was last seen in place: a backup may have taken over.
  bool controller_was_away_ = false;
  std::set<JobId> refused_;  // jobs of the incident at hand that slurmctld will not requeue
  std::thread thread_;
};

}  // namespace acrf
