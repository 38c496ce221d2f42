// SPDX-License-Identifier: GPL-2.0-or-later
#include "watcher.h"

#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <utility>

#include "common/courier_path.h"
#include "common/file.h"
#include "common/verdict_file.h"
#include "core/gpu_owner.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::chrono::seconds kSavePlaceEvery{1};
constexpr std::chrono::seconds kKnowsGpusWithin{5};
constexpr std::chrono::minutes kReportLossesEvery{1};
constexpr int kKernelLogCallsPerTurn = 20;  // then signals and the other sources get their turn

// A kernel record is stamped in time since boot; slurmctld's job times are wall-clock seconds.
std::int64_t unix_time_of(std::uint64_t uptime_us) {
  timespec wall{};
  timespec up{};
  ::clock_gettime(CLOCK_REALTIME, &wall);
  ::clock_gettime(CLOCK_MONOTONIC, &up);
  const std::int64_t age_s = up.tv_sec - static_cast<std::int64_t>(uptime_us / 1'000'000);
  return wall.tv_sec - std::max<std::int64_t>(age_s, 0);
}

// Drivers of what a GPU job stands on: a line of theirs that no rule knows may be worth a question.
bool speaks_of_hardware(std::string_view message) {
  constexpr std::string_view kDrivers[] = {"NVRM", "nvidia",   "amdgpu", "i915", "xe ",  "mlx5",
                                           "mlx4", "pcieport", "EDAC",   "mce:", "nvme", "bnxt"};
  return std::any_of(std::begin(kDrivers), std::end(kDrivers),
                     [&](std::string_view driver) { return starts_with(message, driver); });
}

std::string history_path(const Config& config) { return config.state_dir + "/fault-history.state"; }

std::string describe(const Incident& incident) {
  const auto& root = incident.root;
  const std::string where =
      !root.part.empty() ? "the " + root.part
                         : fmt::format("GPU {} ({})", to_string(root.gpu),
                                       root.gpu_uuid.empty() ? "UUID unknown" : root.gpu_uuid);
  const auto what = root.xid ? fmt::format("{} (xid {})", root.verdict.fault_class, *root.xid)
                             : root.verdict.fault_class;
  const auto owner = describe_owner(root);
  return fmt::format("{} on {}, {}, {}, {}{}seen in the {}: {}", what, where,
                     health_state(root.verdict, root.xid), name_of(root.verdict.severity), owner,
                     owner.empty() ? "" : ", ", root.source, root.evidence);
}

}  // namespace

Watcher::Watcher(Config config, std::string config_path, std::string node, std::string gres_conf,
                 IncidentStore store, CaseStore cases, KernelLogSource kernel_log,
                 std::string boot_id, ConfigReload::Read read_config)
    : config_(std::move(config)),
      config_path_(std::move(config_path)),
      reload_(std::move(read_config)),
      node_(std::move(node)),
      gres_conf_(std::move(gres_conf)),
      store_(std::move(store)),
      kernel_log_(std::move(kernel_log)),
      boot_id_(std::move(boot_id)),
      gpus_(config_, boot_id_),
      driver_age_(config_.state_dir + "/driver.state"),
      node_watch_(config_, kProgram, node_, gres_conf_),
      jobs_(config_, kProgram, node_, gres_conf_, boot_id_),
      advice_(advice_settings(config_), courier_path(), config_.state_dir + "/advice.json",
              {node_}),
      knows_gpus_by_(Clock::now() + kKnowsGpusWithin),
      next_save_(Clock::now()),
      check_cache_(verdict_path(config_.state_dir), boot_id_),
      figures_(std::int64_t{std::time(nullptr)} * 1000),
      catalog_(Catalog::with_rules(config_.faults)),
      lines_(catalog_),
      tracker_(node_),
      audit_({.path = audit_path(config_.state_dir),
              .limits = {config_.audit_days, config_.audit_size_mb},
              .ends_pending = true}),
      slurmd_(kProgram, node_, config_.slurmd_silence_s),
      neighbours_(node_, config_.peer_silence_s) {
  start_notifier();
  start_reporter();
  responder_ = std::make_unique<Responder>(
      Responder::Parts{
          config_, store_, audit_, signs_, node_, boot_id_,
          std::filesystem::path(gres_conf_).parent_path(),
          [this](const Incident& incident) { when_closed(incident); },
          [this](const Incident& incident, const std::string& state, const std::string& news) {
            tell(incident, state, news);
          },
          [this](const Case& sick, const std::string& why) { when_case_moves(sick, why); },
          [this](const Incident& incident) { return is_still_silent(incident); },
          [this](const Neighbourhood::Found& found) { neighbours_.place(found); }},
      std::move(cases));
}

// The neighbours' thread first: it tells others that this is an orderly end.
Watcher::~Watcher() { neighbours_.stop(); }

void Watcher::run(int signal_fd) {
  if (const auto text = read_file(history_path(config_))) history_.take_text(*text);
  resume_unfinished();
  read_kernel_log();
  while (wait(signal_fd)) {
    take_new_config();
    read_kernel_log();
    const auto now = Clock::now();
    look_at_gpus(now);
    driver_age_.note(gpus_.driver(), std::time(nullptr));
    take_gpu_looks();
    if (node_watch_.step(now)) take_node_findings();
    jobs_.step(now, std::time(nullptr));
    if (!knows_gpus_) learn_gpus(now);
    ask_slurmd(now);
    take_peer_news(now);
    advice_.step(now);
    publish_verdict();
  }
  remember_history();
  place_problem_.note(kernel_log_.save_place());
}

void Watcher::look_at_gpus(Clock::time_point now) {
  if (signs_.looks_rest(now)) return gpus_.rest(now);
  for (auto& event : gpus_.work(now, std::time(nullptr), knows_gpus_))
    observe_finding(std::move(event));
}

void Watcher::save(const Incident& incident) {
  if (const auto saved = store_.save(incident); !saved)
    spdlog::error("incident {}: not recorded: {}", incident.id, saved.error().sentence);
}

// Sleeps until something needs attention. False when the daemon is to stop.
bool Watcher::wait(int signal_fd) {
  auto wake = Clock::now() + kSavePlaceEvery;
  if (!knows_gpus_)
    wake = std::min(wake, knows_gpus_by_);
  else if (kernel_log_.has_more())
    wake = Clock::now();
  wake = std::min({wake, gpus_.next_wake(), node_watch_.next_wake(), jobs_.next_wake(),
                   slurmd_.next_wake(), advice_.next_wake()});
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(wake - Clock::now()).count();
  std::vector<pollfd> fds = {{signal_fd, POLLIN, 0},
                             {knows_gpus_ ? kernel_log_.poll_fd() : -1, POLLIN, 0},
                             {neighbours_.poll_fd(), POLLIN, 0}};
  gpus_.add_poll_fds(fds);
  node_watch_.add_poll_fds(fds);
  jobs_.add_poll_fds(fds);
  slurmd_.add_poll_fds(fds);
  advice_.add_poll_fds(fds);
  // A wait that has ended must not become a short one: more of the kernel log is there.
  ::poll(fds.data(), fds.size(), left <= 0 ? 0 : static_cast<int>(std::min(left, 60'000L) + 1));
  kernel_log_is_ready_ = fds[1].revents != 0;
  signalfd_siginfo signal;
  while (fds[0].revents != 0 && ::read(signal_fd, &signal, sizeof signal) > 0) {
    if (signal.ssi_signo != SIGHUP) return false;
    reload_.start();
  }
  return true;
}

// Once a second whatever poll says: a file system may not tell of what is written to it.
void Watcher::read_kernel_log() {
  const auto now = Clock::now();
  bool more = kernel_log_is_ready_ || kernel_log_.has_more() || now >= next_save_;
  for (int i = 0; knows_gpus_ && more && i < kKernelLogCallsPerTurn; ++i)
    more = kernel_log_.read_records([this](const KernelRecord& record) { handle_record(record); });
  if (now < next_save_) return;
  next_save_ = now + kSavePlaceEvery;
  report_lost_records(now);
  remember_history();
  place_problem_.note(kernel_log_.save_place());
}

// Before the place in the kernel log: a line may be judged twice, but none is forgotten.
void Watcher::remember_history() {
  if (!std::exchange(history_is_new_, false)) return;
  auto text = history_.to_text();
  if (text == remembered_history_) return;
  remembered_history_ = std::move(text);
  history_problem_.note(replace_file(history_path(config_), remembered_history_));
}

void Watcher::report_lost_records(Clock::time_point now) {
  const auto lost = kernel_log_.lost();
  if (lost == reported_losses_ || now < next_loss_report_) return;
  next_loss_report_ = now + kReportLossesEvery;
  spdlog::warn("kernel log: {} records were overwritten before they could be read",
               lost - reported_losses_);
  reported_losses_ = lost;
}

void Watcher::handle_record(const KernelRecord& record) {
  if (!record.from_kernel) return;
  LogLine line;
  line.message = record.message;
  const auto read = lines_.read(line);
  if (!read.verdict.known && speaks_of_hardware(record.message))
    advice_.consider(record.message, Clock::now());
  if (!read.event) return;
  auto event = *read.event;
  if (is_of_other_device(event)) event.verdict.action = Action::kWatch;
  name_gpu_below(event);
  name_far_end(event);
  event.source = "kernel log";
  event.evidence = std::string(record.message);
  event.discriminator = std::to_string(record.sequence) + "/" + std::to_string(record.uptime_us);
  event.unix_s = unix_time_of(record.uptime_us);
  observe(std::move(event), record.uptime_us);
}

void Watcher::observe(Event event, std::uint64_t uptime_us) {
  event.boot_id = boot_id_;
  if (event.part.empty() && event.gpu_uuid.empty()) event.gpu_uuid = gpus_.uuid_at(event.gpu);
  if (event.part.empty()) event.shared = driver_age_.if_new(event.unix_s);
  // A server's own little GPU, or one that was taken out of gres.conf, is no job's loss.
  if (event.part.empty() && evacuates(event.verdict) && jobs_.is_no_gpu_of_slurm(event.gpu))
    event.verdict.action = Action::kWatch;
  jobs_.attribute(event, uptime_us);
  history_.judge(event);
  history_is_new_ = true;
  note_signs(event);
  std::optional<Change> change;
  {
    const std::lock_guard lock(tracker_mutex_);
    change = tracker_.observe(event);
    if (change && change->kind != Change::Kind::kClosed) note(change->incident);
  }
  if (change) follow(*change);
}

// The responder acts on an incident once; a stronger root is news for it only when there was
// nothing to act on before, when what could wait for the jobs' end no longer can, or when a GPU
// was hidden whose node can't serve on.
void Watcher::follow(const Change& change) {
  if (change.kind == Change::Kind::kOpened)
    figures_.note_incident(change.incident.root.verdict.fault_class);
  if (change.kind == Change::Kind::kOpened || change.newly_evacuates)
    return open_incident(change.incident);
  if (change.newly_urgent) return hasten(change.incident);
  if (change.kind == Change::Kind::kClosed) withdraw(change.incident);
  spdlog::warn("incident {}: {}: {}", change.incident.id,
               change.kind == Change::Kind::kClosed ? "needs nothing any more" : "its root is now",
               describe(change.incident));
  if (change.kind == Change::Kind::kStronger && evacuates(change.incident.root.verdict) &&
      enforces_anywhere(config_))
    strengthen(change.incident);
}

void Watcher::strengthen(Incident incident) {
  incident.enforced = true;
  responder_->strengthen(std::move(incident));
}

// The responder, which has the incident, also has its record and writes the new root to it.
void Watcher::hasten(Incident incident) {
  spdlog::error("incident {}: can't wait for the jobs to end any more: {}", incident.id,
                describe(incident));
  if (!enforces_anywhere(config_)) return;
  incident.enforced = true;
  responder_->submit(std::move(incident));
}

// The driver says that nothing is needed any more: what was not begun is not done.
void Watcher::withdraw(const Incident& incident) {
  responder_->withdraw(incident.id);
  const std::lock_guard lock(tracker_mutex_);
  findings_.forget(incident.root.verdict.fault_class, place_of(incident.root));
}

void Watcher::note_signs(const Event& event) {
  if (evacuates(event.verdict))
    signs_.note_fault(event.part.empty() ? event.gpu_uuid : "", event.unix_s);
}

void Watcher::publish_verdict() {
  std::vector<std::string> silent = node_watch_.silent();
  for (auto& source : gpus_.silent()) silent.push_back(std::move(source));
  NodeVerdict verdict;
  {
    const std::lock_guard lock(tracker_mutex_);
    verdict = judge_node(findings_.at(std::time(nullptr)), silent);
  }
  verdict_problem_.note(check_cache_.publish(verdict, boottime_ms(), [&] {
    return figures_.to_json(present(verdict), gpus_.answer_times(), kernel_log_.lost());
  }));
  if (reporter_) report(verdict, Clock::now());
}

void Watcher::open_incident(Incident incident) {
  const bool acts = evacuates(incident.root.verdict);
  incident.gpu_index = jobs_.gpu_index(incident.root.gpu);
  incident.node_gpus = std::max(jobs_.gpus(), static_cast<int>(gpus_.size()));
  incident.enforced = acts && enforces_anywhere(config_);
  incident.phase = incident.enforced ? Phase::kSeen : Phase::kDone;
  if (!acts) {
    const auto& shadowed = incident.root.shadowed;
    spdlog::warn("incident {}: {}; watching{}", incident.id, describe(incident),
                 shadowed ? fmt::format(" (Mode=shadow: would {})", name_of(*shadowed)) : "");
    incident.outcome = "watched";
  } else if (!incident.enforced) {
    spdlog::warn("incident {}: {}; Mode=observe: would drain node {} ({}) and {}", incident.id,
                 describe(incident), incident.node, drain_reason(incident),
                 incident.root.verdict.at_job_end ? "let its jobs run" : "requeue its jobs");
    incident.outcome = "observed";
  } else {
    spdlog::error("incident {}: {}", incident.id, describe(incident));
  }
  save(incident);
  responder_->submit(std::move(incident));
}

}  // namespace acrf
