// SPDX-License-Identifier: GPL-2.0-or-later
#include "watcher.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <ctime>

namespace acrf {
namespace {

constexpr std::size_t kFinishedIncidentsKept = 200;
constexpr std::chrono::seconds kSavePlaceEvery{1};

// A kernel record is stamped in time since boot; slurmctld's job times are wall-clock seconds.
std::int64_t unix_time_of(std::uint64_t uptime_us) {
  timespec wall{};
  timespec up{};
  ::clock_gettime(CLOCK_REALTIME, &wall);
  ::clock_gettime(CLOCK_MONOTONIC, &up);
  const std::int64_t age_s = up.tv_sec - static_cast<std::int64_t>(uptime_us / 1'000'000);
  return wall.tv_sec - std::max<std::int64_t>(age_s, 0);
}

std::string describe(const Incident& incident) {
  const auto& root = incident.root;
  return fmt::format("{} on GPU {} ({}), {}, seen in the {}: {}", root.verdict.fault_class,
                     to_string(root.gpu), root.gpu_uuid.empty() ? "UUID unknown" : root.gpu_uuid,
                     name_of(root.verdict.severity), root.source, root.evidence);
}

}  // namespace

Watcher::Watcher(const Config& config, std::string node, IncidentStore store,
                 KernelLogSource kernel_log, std::string boot_id)
    : config_(config),
      node_(std::move(node)),
      store_(std::move(store)),
      kernel_log_(std::move(kernel_log)),
      boot_id_(std::move(boot_id)),
      gpus_(config_, boot_id_),
      next_save_(Clock::now()),
      tracker_(node_) {
  responder_ = std::make_unique<Responder>(store_, [this](const Incident& incident) {
    const std::lock_guard lock(tracker_mutex_);
    tracker_.update(incident);
  });
}

void Watcher::run(int signal_fd) {
  resume_unfinished();
  read_kernel_log();
  while (wait(signal_fd)) {
    read_kernel_log();
    for (auto& event : gpus_.work(Clock::now(), std::time(nullptr))) observe(std::move(event));
  }
  if (const auto saved = kernel_log_.save_place(); !saved)
    spdlog::error("place in the kernel log: {}", saved.error().sentence);
}

void Watcher::resume_unfinished() {
  std::vector<std::string> complaints;
  for (auto& incident : store_.load_all(complaints)) {
    if (incident.root.boot_id != boot_id_) {
      end_with_boot(incident);
      continue;
    }
    // What was only observed is news again to a daemon that may act.
    const bool acts = evacuates_node(incident.root.verdict.action);
    if (acts && !incident.enforced && config_.mode == Mode::kEnforce) continue;
    tracker_.update(incident);
    if (incident.phase == Phase::kDone) continue;
    if (config_.mode != Mode::kEnforce) {
      spdlog::warn("incident {}: unfinished, and left so: Mode=observe", incident.id);
      continue;
    }
    spdlog::info("incident {}: taken up again after a restart", incident.id);
    responder_->submit(std::move(incident));
  }
  for (const auto& complaint : complaints) spdlog::error("set aside as unreadable: {}", complaint);
  store_.prune(kFinishedIncidentsKept);
}

// Verdicts are bound to the boot they were made in: a reboot is the cure that was asked for.
void Watcher::end_with_boot(Incident& incident) {
  if (incident.phase == Phase::kDone) return;
  incident.phase = Phase::kDone;
  incident.outcome = "the node was rebooted";
  spdlog::info("incident {}: closed: {}", incident.id, incident.outcome);
  save(incident);
}

void Watcher::save(const Incident& incident) {
  if (const auto saved = store_.save(incident); !saved)
    spdlog::error("incident {}: not recorded: {}", incident.id, saved.error().sentence);
}

// Sleeps until something needs attention. False when the daemon is to stop.
bool Watcher::wait(int signal_fd) {
  const auto wake = std::min(Clock::now() + kSavePlaceEvery, gpus_.next_wake());
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(wake - Clock::now()).count();
  std::vector<pollfd> fds = {{signal_fd, POLLIN, 0}, {kernel_log_.poll_fd(), POLLIN, 0}};
  gpus_.add_poll_fds(fds);
  ::poll(fds.data(), fds.size(), static_cast<int>(std::clamp<long>(left + 1, 0, 60'000)));
  signalfd_siginfo signal;
  return ::read(signal_fd, &signal, sizeof signal) <= 0;
}

void Watcher::read_kernel_log() {
  bool more = true;
  for (int i = 0; more && i < 100; ++i)
    more = kernel_log_.read_records([this](const KernelRecord& record) { handle_record(record); });
  if (Clock::now() < next_save_) return;
  next_save_ = Clock::now() + kSavePlaceEvery;
  if (const auto saved = kernel_log_.save_place(); !saved)
    spdlog::error("place in the kernel log: {}", saved.error().sentence);
}

void Watcher::handle_record(const KernelRecord& record) {
  if (!record.from_kernel) return;
  const auto xid = parse_xid(record.message);
  if (!xid) return;
  Event event;
  event.verdict = classify_xid(xid->code);
  event.gpu = xid->gpu;
  event.source = "kernel log";
  event.evidence = std::string(record.message);
  event.discriminator = std::to_string(record.sequence) + "/" + std::to_string(record.uptime_us);
  event.unix_s = unix_time_of(record.uptime_us);
  observe(std::move(event));
}

void Watcher::observe(Event event) {
  event.boot_id = boot_id_;
  if (event.gpu_uuid.empty()) event.gpu_uuid = gpus_.uuid_at(event.gpu);
  std::optional<Incident> incident;
  {
    const std::lock_guard lock(tracker_mutex_);
    incident = tracker_.observe(event);
  }
  if (incident) open_incident(std::move(*incident));
}

void Watcher::open_incident(Incident incident) {
  const bool acts = evacuates_node(incident.root.verdict.action);
  incident.enforced = acts && config_.mode == Mode::kEnforce;
  if (!incident.enforced) incident.phase = Phase::kDone;
  if (!acts) {
    spdlog::warn("incident {}: {}; watching", incident.id, describe(incident));
    incident.outcome = "watched";
  } else if (!incident.enforced) {
    spdlog::warn("incident {}: {}; Mode=observe: would drain node {} ({}) and requeue its jobs",
                 incident.id, describe(incident), node_, drain_reason(incident));
    incident.outcome = "observed";
  } else {
    spdlog::error("incident {}: {}", incident.id, describe(incident));
  }
  save(incident);
  if (incident.enforced) responder_->submit(std::move(incident));
}

}  // namespace acrf
