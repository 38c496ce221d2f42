// SPDX-License-Identifier: GPL-2.0-or-later
// The watching half of acrf-healthd: one thread that polls the kernel log, the GPU probes and
// signals, turns what they say into incidents, and hands those to the Responder. It never calls
// slurmctld.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actions/responder.h"
#include "advice.h"
#include "check_cache.h"
#include "common/audit_log.h"
#include "common/incident_store.h"
#include "common/lasting_problem.h"
#include "config_reload.h"
#include "core/classify.h"
#include "core/config.h"
#include "core/fault_history.h"
#include "core/incident.h"
#include "core/line_reader.h"
#include "driver_age.h"
#include "figures.h"
#include "neighbours.h"
#include "notifier.h"
#include "part_signs.h"
#include "report/report_items.h"
#include "report/reporter.h"
#include "sources/gpu_watch.h"
#include "sources/job_watch.h"
#include "sources/kernel_log_source.h"
#include "sources/node_watch.h"
#include "sources/slurmd_watch.h"

namespace acrf {

class Watcher {
 public:
  // `config` has its paths expanded for `node`, and so has what `read_config` gives; `gres_conf`
  // is a path.
  Watcher(Config config, std::string config_path, std::string node, std::string gres_conf,
          IncidentStore store, CaseStore cases, KernelLogSource kernel_log, std::string boot_id,
          ConfigReload::Read read_config);
  ~Watcher();

  // Takes up incidents that an earlier run left unfinished, then watches until `signal_fd` says
  // stop. SIGHUP there means that acrf.conf is to be read again.
  void run(int signal_fd);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr char kProgram[] = "/proc/self/exe";

  void take_new_config();
  void swap_config(Config config);
  void change_mode();
  void resume_unfinished();
  void learn_gpus(Clock::time_point now);
  void end_unfinished(Incident& incident, const std::string& why);
  void save(const Incident& incident);
  bool wait(int signal_fd);
  void read_kernel_log();
  void handle_record(const KernelRecord& record);
  bool names_gpu(const Event& event) const;
  bool is_of_other_device(const Event& event) const;
  void name_gpu(Event& event) const;
  void name_gpu_below(Event& event) const;
  void name_far_end(Event& event) const;
  void observe_finding(Event event);
  void observe(Event event, std::uint64_t uptime_us = 0);
  void open_incident(Incident incident);
  void follow(const Change& change);
  void hasten(Incident incident);
  void strengthen(Incident incident);
  void withdraw(const Incident& incident);
  void note(const Incident& incident);
  void note_signs(const Event& event);
  void look_at_gpus(Clock::time_point now);
  void take_gpu_looks();
  void when_closed(const Incident& incident);
  void when_case_moves(const Case& sick, const std::string& why);
  void tell(const Incident& incident, const std::string& state, const std::string& news);
  void send(Notice notice);
  void start_notifier();
  void take_node_findings();
  void take_peer_news(Clock::time_point now);
  void follow_peer(const PeerNews& news);
  void tell_of_peer(const PeerNews& news);
  void open_peer_incident(const PeerNews& news);
  void ask_slurmd(Clock::time_point now);
  bool is_still_silent(const Incident& incident) const;
  void publish_verdict();
  void start_reporter();
  void report(const NodeVerdict& verdict, Clock::time_point now);
  std::vector<ReportedPart> parts_to_report() const;
  NodeNow present(const NodeVerdict& verdict);
  void remember_history();
  void report_lost_records(Clock::time_point now);

  Config config_;
  std::string config_path_;
  ConfigReload reload_;
  std::string node_;
  std::string gres_conf_;
  IncidentStore store_;
  KernelLogSource kernel_log_;
  std::string boot_id_;
  GpuWatch gpus_;
  DriverAge driver_age_;
  NodeWatch node_watch_;
  JobWatch jobs_;
  AdviceDesk advice_;
  std::vector<Finding> node_findings_;
  bool knows_gpus_ = false;  // or has waited long enough: from then on faults are judged
  Clock::time_point knows_gpus_by_;
  bool kernel_log_is_ready_ = false;
  Clock::time_point next_save_;
  Clock::time_point next_loss_report_;
  std::uint64_t reported_losses_ = 0;
  LastingProblem place_problem_{"place in the kernel log"};
  LastingProblem history_problem_{"memory of earlier faults"};
  LastingProblem verdict_problem_{"verdict for --check-once"};
  CheckCache check_cache_;
  Figures figures_;
  std::mutex tracker_mutex_;  // the Responder's thread closes incidents
  Catalog catalog_;
  LineReader lines_;
  FaultHistory history_;
  std::string remembered_history_;  // what its file holds
  bool history_is_new_ = false;
  IncidentTracker tracker_;
  CurrentFindings findings_;
  AuditLog audit_;
  std::mutex notifier_mutex_;  // the Responder's thread tells, a reload replaces
  std::unique_ptr<Notifier> notifier_;
  std::unique_ptr<Reporter> reporter_;  // null: there is no hub
  std::string reported_state_;          // without its time
  Clock::time_point next_report_{};
  std::map<std::string, CaseState> open_cases_;  // UUID of the GPU, or empty -> state
  PartSigns signs_;
  SlurmdWatch slurmd_;
  Neighbours neighbours_;
  std::map<std::string, std::string> silent_peers_;  // neighbour -> name of its incident
  bool own_look_wanted_ = false;  // a neighbour that had missed this node is back
  Clock::time_point next_own_look_{};
  std::unique_ptr<Responder> responder_;
};

}  // namespace acrf
