// SPDX-License-Identifier: GPL-2.0-or-later
#include "step_process.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "common/arguments.h"
#include "core/text.h"

extern char** environ;

namespace acrf {
namespace {

constexpr std::chrono::milliseconds kLook(5);

std::string name_of(std::string_view entry) {
  return std::string(entry.substr(0, entry.find('=')));
}

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> all = variables;
  for (char** entry = environ; *entry; ++entry) {
    bool replaced = false;
    for (const auto& variable : variables) replaced |= name_of(variable) == name_of(*entry);
    if (!replaced) all.emplace_back(*entry);
  }
  return all;
}

}  // namespace

StepProcess::~StepProcess() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

Status StepProcess::start(std::vector<std::string> command,
                          const std::vector<std::string>& variables) {
  auto environment = environment_with(variables);
  // The launcher blocks the signals that it forwards; srun must get them.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int code = ::posix_spawnp(&pid_, command[0].c_str(), nullptr, &attributes,
                                  pointers_to(command).data(), pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (code == 0) return Done{};
  pid_ = -1;
  return Error{ErrorCode::kSystem, "start " + command[0] + ": " + std::strerror(code)};
}

void StepProcess::signal(int signal) {
  if (pid_ > 0) ::kill(pid_, signal);
}

std::optional<int> StepProcess::ended() {
  int status = 0;
  if (pid_ <= 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void StepProcess::stop(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (runs() && !ended() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(kLook);
  if (!runs()) return;
  signal(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace acrf
