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
// A reading beside the lines of a burst: as a line of the same weight would be.
constexpr int kLostGpuRank = 100;  // of Xid 79, the same fault from the other side
constexpr int kActingRank = 60;
constexpr int kWatchedRank = 20;
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
  const std::string where =
      !root.part.empty() ? "the " + root.part
                         : fmt::format("GPU {} ({})", to_string(root.gpu),
                                       root.gpu_uuid.empty() ? "UUID unknown" : root.gpu_uuid);
  const auto what = root.xid ? fmt::format("{} (xid {})", root.verdict.fault_class, *root.xid)
                             : root.verdict.fault_class;
  return fmt::format("{} on {}, {}, seen in the {}: {}", what, where,
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
      catalog_(Catalog::with_rules(config.faults)),
      lines_(catalog_),
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
    for (auto& event : gpus_.work(Clock::now(), std::time(nullptr)))
      observe_finding(std::move(event));
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
    const bool acts = evacuates(incident.root.verdict);
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
  LogLine line;
  line.message = record.message;
  auto found = lines_.read(line).event;
  if (!found) return;
  auto& event = *found;
  // A PCIe error that some device gets over is a reason to act only where a GPU is concerned.
  if (event.verdict.fault_class == "pcie_nonfatal" && !names_gpu(event))
    event.verdict.action = Action::kWatch;
  event.source = "kernel log";
  event.evidence = std::string(record.message);
  event.discriminator = std::to_string(record.sequence) + "/" + std::to_string(record.uptime_us);
  event.unix_s = unix_time_of(record.uptime_us);
  observe(std::move(event));
}

// The GPU of an event, or of a port's report that names the GPU as the source.
bool Watcher::names_gpu(const Event& event) const {
  if (event.part.empty()) return true;
  std::string_view part = event.part;
  const auto address = take_pci_address(part);
  return address && !gpus_.uuid_at(*address).empty();
}

// What readings say goes by the site's Fault lines for its class.
void Watcher::observe_finding(Event event) {
  auto& verdict = event.verdict;
  if (const auto* rule = catalog_.find_rule({}, {}, verdict.fault_class))
    event.shadowed = apply_rule(*rule, verdict);
  if (verdict.action == Action::kIgnore) return;
  event.rank = evacuates(verdict) ? kActingRank : kWatchedRank;
  if (verdict.fault_class == classify_lost_gpu().fault_class) event.rank = kLostGpuRank;
  observe(std::move(event));
}

void Watcher::observe(Event event) {
  event.boot_id = boot_id_;
  if (event.part.empty() && event.gpu_uuid.empty()) event.gpu_uuid = gpus_.uuid_at(event.gpu);
  history_.judge(event);
  std::optional<Change> change;
  {
    const std::lock_guard lock(tracker_mutex_);
    change = tracker_.observe(event);
  }
  if (change) follow(*change);
}

// The responder acts on an incident once; a stronger root is news for it only when there was
// nothing to act on before.
void Watcher::follow(const Change& change) {
  if (change.kind == Change::Kind::kOpened || change.newly_evacuates)
    return open_incident(change.incident);
  spdlog::warn("incident {}: {}: {}", change.incident.id,
               change.kind == Change::Kind::kClosed ? "needs nothing any more" : "its root is now",
               describe(change.incident));
}

void Watcher::open_incident(Incident incident) {
  const bool acts = evacuates(incident.root.verdict);
  incident.enforced = acts && config_.mode == Mode::kEnforce;
  if (!incident.enforced) incident.phase = Phase::kDone;
  if (!acts) {
    const auto& shadowed = incident.root.shadowed;
    spdlog::warn("incident {}: {}; watching{}", incident.id, describe(incident),
                 shadowed ? fmt::format(" (Mode=shadow: would {})", name_of(*shadowed)) : "");
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
