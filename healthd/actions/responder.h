// SPDX-License-Identifier: GPL-2.0-or-later
// Carries incidents out on slurmctld, in a thread of its own because its calls may block for as
// long as a controller fails over. The watching side never waits for it.
//
// Each round asks slurmctld afresh and does what is left to do. An incident is finished only after
// its effect has held for as long as slurmctld may take to write its state: a controller that is
// killed earlier comes back without the drain or the requeue, and the next round does them again.
// What was taken from the jobs then goes to Repair.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "actions/active_incident.h"
#include "actions/containment.h"
#include "actions/job_recovery.h"
#include "actions/neighbourhood.h"
#include "actions/power_caps.h"
#include "actions/repair.h"
#include "common/incident_store.h"
#include "common/slurm_client.h"
#include "core/incident.h"
#include "part_signs.h"

namespace acrf {

class Responder {
 public:
  struct Parts {
    Config config;
    const IncidentStore& store;
    AuditLog& audit;
    PartSigns& signs;
    std::string node;
    std::string boot_id;
    std::string topology_dir;
    // Called in the responder's thread.
    std::function<void(const Incident&)> when_closed;
    // People: the state that the incident has reached, in one word, and what to say about it.
    std::function<void(const Incident&, const std::string& state, const std::string& news)> tell;
    std::function<void(const Case&, const std::string& news)> tell_case;
    // Of a fault of which only silence tells: it is still silent, right now.
    std::function<bool(const Incident&)> is_still_silent;
    std::function<void(const Neighbourhood::Found&)> when_neighbours_found;
  };

  Responder(Parts parts, CaseStore cases);
  // Stops after the call under way; unfinished incidents stay in the store.
  ~Responder();

  // The incident must have been saved. One that is known already takes over the stronger verdict.
  void submit(Incident incident);
  // A known incident has a stronger root. Only where a GPU was hidden whose node can't serve on is
  // there more to do.
  void strengthen(Incident incident);
  // To be used from the next round on.
  void configure(Config config);
  // The incident needs nothing any more, also after a restart. What was begun goes on to its end.
  void withdraw(const std::string& id);
  // A GPU became too hot, or is no longer.
  void look_at_heat();
  // Neighbours have missed this node: it may have been drained meanwhile.
  void look_at_own_node();

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  void take_submissions();
  ActiveIncident* find_active(const std::string& id);
  void take_root(ActiveIncident& active, Event root);
  void note_decision(const Incident& incident);
  Clock::time_point respond_to_all(Clock::time_point now);
  bool respond(ActiveIncident& active);
  static std::chrono::milliseconds pause_after(Round round);
  Round one_round(ActiveIncident& active);
  Round hold_contained(ActiveIncident& active, const NodeView& node);
  Round contain(ActiveIncident& active);
  Clock::time_point adopt_own_node(Clock::time_point now);
  void choose_containment(Incident& incident);
  void mark_contained(ActiveIncident& active, bool by_us);
  void close(Incident& incident, const std::string& outcome);
  void save(const Incident& incident);
  bool is_withdrawn(const std::string& id);
  bool wait_until(Clock::time_point when);
  bool pause(int milliseconds);

  Parts parts_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Incident> queue_, stronger_;
  std::set<std::string> withdrawn_;
  std::optional<Config> next_config_;
  bool stopping_ = false;
  bool own_node_wanted_ = true;  // also when the daemon begins
  bool heat_changed_ = false;
  SlurmClient slurm_;
  Containment containment_;
  Repair repair_;
  PowerCaps power_caps_;
  JobRecovery jobs_;
  Neighbourhood neighbourhood_;
  Clock::time_point own_look_due_ = Clock::time_point::max();
  std::list<ActiveIncident> active_;
  std::thread thread_;
};

}  // namespace acrf
