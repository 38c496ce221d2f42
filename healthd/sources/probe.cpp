// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "common/arguments.h"
#include "common/file.h"
#include "core/text.h"

extern char** environ;

namespace acrf {
namespace {

constexpr std::size_t kLongestAnswer = 1 << 20;

}  // namespace

Status Probe::start() {
  int to_probe[2];
  int from_probe[2];
  if (::pipe2(to_probe, O_CLOEXEC) != 0) return system_error("create a pipe");
  UniqueFd probe_input(to_probe[0]);
  input_.reset(to_probe[1]);
  if (::pipe2(from_probe, O_CLOEXEC | O_NONBLOCK) != 0) return system_error("create a pipe");
  output_.reset(from_probe[0]);
  UniqueFd probe_output(from_probe[1]);
  ::fcntl(probe_output.get(), F_SETFL, 0);  // only the daemon's end must not block

  int places[2];
  if (::pipe2(places, O_CLOEXEC | O_NONBLOCK) != 0) return system_error("create a pipe");
  places_.reset(places[0]);
  const UniqueFd probe_places(places[1]);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, probe_input.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, probe_output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, probe_places.get(), kPlaceFd);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);

  std::vector<std::string> environment = extra_environment_;
  for (char** variable = environ; *variable; ++variable) environment.emplace_back(*variable);
  auto command = command_;
  const int code = ::posix_spawn(&pid_, command[0].c_str(), &files, &attributes,
                                 pointers_to(command).data(), pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (code == 0) {
    process_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    return Done{};
  }
  pid_ = -1;
  return Error{ErrorCode::kSystem, "start " + command_[0] + ": " + std::strerror(code)};
}

Status Probe::request(Clock::time_point deadline, const std::string& line) {
  if (deadline_) return Done{};
  if (pid_ < 0 && !process_has_ended(0))
    return Error{ErrorCode::kUnavailable, "the last probe is stuck in the driver"};
  if (pid_ < 0)
    if (const auto started = start(); !started) return started;
  const std::string text = line + "\n";
  if (::write(input_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    const Error error = system_error("ask " + command_[0]);
    stop();
    return error;
  }
  deadline_ = deadline;
  place_.clear();
  return Done{};
}

Result<std::optional<std::string>> Probe::take_answer() {
  char buffer[65536];
  while (true) {
    const ssize_t n = ::read(output_.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    if (n == 0 || pending_.size() > kLongestAnswer) {
      stop();
      return Error{ErrorCode::kUnavailable, "the probe ended without an answer"};
    }
    pending_.append(buffer, static_cast<std::size_t>(n));
  }
  const auto end = pending_.find('\n');
  if (end == std::string::npos) return std::optional<std::string>();
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  deadline_.reset();
  (void)place();  // makes room for the next request's
  return std::optional(std::move(line));
}

const std::string& Probe::place() {
  char buffer[4096];
  std::string lines;
  for (ssize_t n = 0; places_ && (n = ::read(places_.get(), buffer, sizeof buffer)) > 0;)
    lines.append(buffer, static_cast<std::size_t>(n));
  if (lines.empty()) return place_;
  lines.pop_back();  // the end of the last line
  place_ = lines.substr(lines.rfind('\n') + 1);
  return place_;
}

bool Probe::process_has_ended(int wait_ms) const {
  pollfd process = {process_.get(), POLLIN, 0};
  return !process_ || ::poll(&process, 1, wait_ms) == 1;
}

// A process stuck in the kernel dies when the driver lets go of it; nobody waits for that.
void Probe::stop() {
  input_.reset();  // a worker that can, ends by itself and takes its own children along
  if (pid_ > 0) {
    if (!process_has_ended(20)) ::kill(pid_, SIGKILL);
    if (process_has_ended(50)) ::waitpid(pid_, nullptr, WNOHANG);
  }
  pid_ = -1;
  (void)place();
  places_.reset();
  output_.reset();
  pending_.clear();
  deadline_.reset();
}

}  // namespace acrf
