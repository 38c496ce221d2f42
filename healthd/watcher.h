// SPDX-License-Identifier: GPL-2.0-or-later
// The watching half of acrf-healthd: one thread that polls the kernel log, the GPU probes and
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
#include "core/classify.h"
#include "core/config.h"
#include "core/fault_history.h"
#include "core/incident.h"
#include "core/line_reader.h"
#include "sources/gpu_watch.h"
#include "sources/kernel_log_source.h"
#include "sources/node_watch.h"

namespace acrf {

class Watcher {
 public:
  // `config` has its paths expanded for `node`.
  Watcher(const Config& config, std::string node, IncidentStore store, KernelLogSource kernel_log,
          std::string boot_id, NodeWatch node_watch);

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
  bool names_gpu(const Event& event) const;
  void observe_finding(Event event);
  void observe(Event event);
  void open_incident(Incident incident);
  void follow(const Change& change);
  void withdraw(const Incident& incident);
  void note(const Incident& incident);
  void take_node_findings();
  void publish_verdict();
  void report_lost_records(Clock::time_point now);

  const Config& config_;
  std::string node_;
  IncidentStore store_;
  KernelLogSource kernel_log_;
  std::string boot_id_;
  GpuWatch gpus_;
  NodeWatch node_watch_;
  AdviceDesk advice_;
  std::vector<Finding> node_findings_;
  Clock::time_point next_save_;
  Clock::time_point next_loss_report_;
  std::uint64_t reported_losses_ = 0;
  CheckCache check_cache_;
  std::mutex tracker_mutex_;  // the Responder's thread closes incidents
  Catalog catalog_;
  LineReader lines_;
  FaultHistory history_;
  IncidentTracker tracker_;
  CurrentFindings findings_;
  std::unique_ptr<Responder> responder_;
};

}  // namespace acrf
