// SPDX-License-Identifier: GPL-2.0-or-later
#include "notifier.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/arguments.h"
#include "common/file.h"
#include "core/node_verdict.h"

namespace acrf {
namespace {

constexpr std::size_t kMostQueued = 200;
constexpr std::size_t kLongestOutput = 65536;
constexpr std::size_t kLongestShown = 300;
constexpr int kSpoolRetryMs = 30'000;
constexpr int kLongestPollMs = 3'600'000;

std::int64_t unix_ms_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// With signals as a program expects them: the daemon blocks its own and ignores its children's end.
bool spawn(std::vector<std::string> words, int output) {
  const auto arguments = pointers_to(words);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int code =
      ::posix_spawn(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  errno = code;
  return code == 0;
}

}  // namespace

Notifier::Notifier(Options options, Report report)
    : options_(std::move(options)),
      report_(std::move(report)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  for (const auto& rule : options_.rules) receivers_.emplace_back(rule);
  if (!receivers_.empty()) thread_ = std::thread([this] { run(); });
}

Notifier::~Notifier() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

void Notifier::tell(Notice notice) {
  if (receivers_.empty()) return;
  if (notice.unix_ms == 0) notice.unix_ms = unix_ms_now();
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= kMostQueued) queue_.pop_front();
    queue_.push_back(bounded(std::move(notice)));
  }
  ::eventfd_write(wake_.get(), 1);
}

void Notifier::run() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      taken_.insert(taken_.end(), queue_.begin(), queue_.end());
      queue_.clear();
      // What is queued at the end is put on disk; what is there already stays.
      if (stopping_ && (taken_.empty() || !open_spool())) return;
    }
    if (open_spool()) {
      take_queue();
      add_summaries();
      if (!stopping_) start_couriers();
    }
    std::vector<pollfd> fds = {{wake_.get(), POLLIN, 0}};
    for (const auto& receiver : receivers_)
      if (receiver.output) fds.push_back({receiver.output.get(), POLLIN, 0});
    ::poll(fds.data(), fds.size(), poll_timeout_ms());
    eventfd_t ignored;
    ::eventfd_read(wake_.get(), &ignored);
    for (auto& receiver : receivers_)
      if (receiver.output) read_courier(receiver);
  }
}

// Complains once; messages wait in memory while it cannot be opened.
bool Notifier::open_spool() {
  if (spool_) return true;
  auto opened = NotifySpool::open(options_.spool, options_.bounds);
  if (!opened) {
    if (!complained_) spdlog::error("notifications wait: {}", opened.error().sentence);
    complained_ = true;
    return false;
  }
  complained_ = false;
  spool_.emplace(std::move(*opened));
  for (const auto& name : spool_->receivers()) {
    const auto known = std::find_if(receivers_.begin(), receivers_.end(),
                                    [&](const Receiver& one) { return one.rule.name == name; });
    if (known != receivers_.end()) {
      known->waiting = true;
      continue;
    }
    spdlog::warn("notify {}: acrf.conf has it no more, its messages are dropped", name);
    std::error_code error;
    std::filesystem::remove_all(options_.spool + "/" + name, error);
  }
  return true;
}

void Notifier::take_queue() {
  for (const auto& notice : taken_)
    for (auto& receiver : receivers_)
      if (wants(receiver.rule, notice)) spool_for(receiver, notice);
  taken_.clear();
}

void Notifier::spool_for(Receiver& receiver, const Notice& notice) {
  if (spool_->has_seen(receiver.rule.name, notice)) return;
  const auto now = unix_ms_now();
  if (notice.resolved && keeps_alerts(*receiver.rule.type)) {
    receiver.limit.count(now);  // an alert that nobody closes is worse than one message too many
  } else if (!receiver.limit.admit(now)) {
    return;
  }
  put(receiver, notice);
}

void Notifier::put(Receiver& receiver, const Notice& notice) {
  const auto lost = spool_->put(receiver.rule.name, notice);
  if (!lost) {
    spdlog::error("notify {}: {}; {} is not told", receiver.rule.name, lost.error().sentence,
                  id_of(notice));
    return;
  }
  if (!lost->empty())
    spdlog::warn("notify {}: too many messages wait, {} is dropped", receiver.rule.name, *lost);
  receiver.waiting = true;
}

void Notifier::add_summaries() {
  for (auto& receiver : receivers_) {
    const auto held_back = receiver.limit.take_held_back(unix_ms_now());
    if (!held_back) continue;
    Notice summary;
    summary.node = options_.node;
    summary.state = "summary";
    summary.fault_class = "summary";
    summary.severity = receiver.rule.severity;
    summary.more = *held_back;
    summary.unix_ms = summary.opened_unix_ms = unix_ms_now();
    // It says all it has to say at once: no alert stays open for it.
    summary.resolved = receiver.rule.type == NotifyType::kAlertmanager;
    put(receiver, summary);
  }
}

void Notifier::start_couriers() {
  for (auto& receiver : receivers_)
    if (receiver.waiting && !receiver.output && Clock::now() >= receiver.next_try)
      start_courier(receiver);
}

void Notifier::start_courier(Receiver& receiver) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  receiver.output.reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  receiver.pending.clear();
  receiver.progressed = false;
  receiver.trouble.clear();
  std::vector<std::string> words = {options_.courier, "--to", receiver.rule.name, "--spool",
                                    options_.spool};
  if (!options_.config_path.empty()) words.insert(words.end(), {"--config", options_.config_path});
  if (!spawn(std::move(words), theirs.get())) {
    receiver.trouble = system_error("start " + options_.courier).sentence;
    end_courier(receiver);
  }
}

void Notifier::read_courier(Receiver& receiver) {
  char buffer[4096];
  while (true) {
    const ssize_t n = ::read(receiver.output.get(), buffer, sizeof buffer);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0 || receiver.pending.size() > kLongestOutput) return end_courier(receiver);
    receiver.pending.append(buffer, static_cast<std::size_t>(n));
    for (auto end = receiver.pending.find('\n'); end != std::string::npos;
         end = receiver.pending.find('\n')) {
      take_line(receiver, receiver.pending.substr(0, end));
      receiver.pending.erase(0, end + 1);
    }
  }
}

// A courier is a process of our own, and is believed no more than the endpoint.
void Notifier::take_line(Receiver& receiver, const std::string& line) {
  const auto said = nlohmann::json::parse(line, nullptr, false);
  const auto text = [&](const char* key) {
    return said.contains(key) && said[key].is_string()
               ? printable_line(said[key].get<std::string>(), kLongestShown)
               : std::string();
  };
  if (!said.is_object()) return;
  if (said.contains("waiting")) {
    receiver.trouble = text("waiting");
    return;
  }
  Outcome outcome{receiver.rule.name, text("id"), text("incident"),
                  said.contains("sent") && said["sent"] == true, text("sentence")};
  receiver.progressed = true;
  if (!outcome.sent)
    spdlog::warn("notify {}: {} is given up: {}", outcome.receiver, outcome.id, outcome.sentence);
  if (report_) report_(outcome);
}

void Notifier::end_courier(Receiver& receiver) {
  receiver.output.reset();
  const auto& name = receiver.rule.name;
  receiver.waiting = !waiting_notices(options_.spool, name).empty();
  const bool failed = !receiver.trouble.empty() || (receiver.waiting && !receiver.progressed);
  if (!failed) {
    if (receiver.failures > 0) spdlog::info("notify {}: messages get through again", name);
    receiver.failures = 0;
    return;
  }
  if (receiver.trouble.empty()) receiver.trouble = "acrf-courier ended without a word";
  if (++receiver.failures == 1) spdlog::warn("notify {}: {}; trying again", name, receiver.trouble);
  const auto wait = options_.first_retry_ms > 0
                        ? std::chrono::milliseconds(options_.first_retry_ms)
                        : std::chrono::seconds(retry_after_s(receiver.failures));
  receiver.next_try = Clock::now() + wait;
}

int Notifier::poll_timeout_ms() {
  if (!spool_) return kSpoolRetryMs;
  auto wait = std::chrono::milliseconds(kLongestPollMs);
  for (const auto& receiver : receivers_) {
    if (receiver.waiting && !receiver.output)
      wait = std::min(
          wait, std::chrono::ceil<std::chrono::milliseconds>(receiver.next_try - Clock::now()));
    if (const auto room = receiver.limit.room_ms())
      wait = std::min(wait, std::chrono::milliseconds(*room - unix_ms_now()));
  }
  return static_cast<int>(std::max(wait, std::chrono::milliseconds(0)).count());
}

}  // namespace acrf
