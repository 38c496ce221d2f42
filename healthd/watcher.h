// SPDX-License-Identifier: GPL-2.0-or-later
// The watching half of acrf-healthd: one thread that polls the kernel log, the GPU probe and
// signals, turns what they say into incidents, and hands those to the Responder. It never calls
// slurmctld.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actions/responder.h"
#include "advice.h"
#include "check_cache.h"
#include "common/incident_store.h"
#include "core/config.h"
#include "core/incident.h"
#include "sources/gpu_inventory.h"
#include "sources/kernel_log_source.h"
#include "sources/node_watch.h"
#include "sources/probe.h"

namespace acrf {

class Watcher {
 public:
  // `config` has its paths expanded for `node`.
  Watcher(const Config& config, std::string node, IncidentStore store, KernelLogSource kernel_log,
          std::string boot_id, std::unique_ptr<Probe> probe, NodeWatch node_watch);

  // Takes up incidents that an earlier run left unfinished, then watches until `signal_fd` says
  // stop.
  void run(int signal_fd);

 private:
  using Clock = std::chrono::steady_clock;

  void resume_unfinished();
  void end_with_boot(Incident& incident);
  void save(const Incident& incident);
  bool wait(int signal_fd);
  void read_kernel_log();
  void handle_record(const KernelRecord& record);
  void sample_when_due(Clock::time_point now);
  void handle_answer();
  void kill_late_probe(Clock::time_point now);
  void probe_failed(const std::string& why);
  void observe(Event event);
  void open_incident(Incident incident);
  void note(const Incident& incident);
  void take_node_findings();
  void publish_verdict();
  void report_lost_records(Clock::time_point now);

  const Config& config_;
  std::string node_;
  IncidentStore store_;
  KernelLogSource kernel_log_;
  std::string boot_id_;
  std::unique_ptr<Probe> probe_;  // null: no GPU library is configured
  NodeWatch node_watch_;
  AdviceDesk advice_;
  std::vector<Finding> node_findings_;
  GpuInventory gpus_;
  std::string last_probe_problem_;
  Clock::time_point next_sample_;
  Clock::time_point next_save_;
  Clock::time_point next_loss_report_;
  std::uint64_t reported_losses_ = 0;
  CheckCache check_cache_;
  std::mutex tracker_mutex_;  // the Responder's thread closes incidents
  IncidentTracker tracker_;
  CurrentFindings findings_;
  std::unique_ptr<Responder> responder_;
};

}  // namespace acrf
