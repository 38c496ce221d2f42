// SPDX-License-Identifier: GPL-2.0-or-later
#include "minicluster/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>

#include "common/arguments.h"
#include "common/unique_fd.h"
#include "core/text.h"

extern char** environ;

namespace acrf::minicluster {
namespace {

using Clock = std::chrono::steady_clock;

std::string_view search_path(const std::vector<std::string>& environment) {
  for (std::string_view entry : environment)
    if (take_prefix(entry, "PATH=")) return entry;
  return "/usr/bin:/bin";
}

// Reads both pipes to their ends or to the time limit.
bool drain_pipes(UniqueFd& output, UniqueFd& errors, CommandResult& result,
                 Clock::time_point until) {
  while (output || errors) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    pollfd fds[2] = {{output.get(), POLLIN, 0}, {errors.get(), POLLIN, 0}};
    ::poll(fds, 2, static_cast<int>(left));
    for (int i = 0; i < 2; ++i) {
      if (fds[i].revents == 0) continue;
      char buffer[16384];
      const ssize_t n = ::read(fds[i].fd, buffer, sizeof buffer);
      auto& fd = i == 0 ? output : errors;
      auto& text = i == 0 ? result.output : result.errors;
      if (n > 0) {
        text.append(buffer, static_cast<std::size_t>(n));
      } else {
        fd.reset();
      }
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> environment_with(const std::vector<std::string>& entries) {
  std::vector<std::string> environment = entries;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const auto name = text.substr(0, text.find('=') + 1);
    const bool replaced = std::any_of(entries.begin(), entries.end(),
                                      [&](const auto& mine) { return starts_with(mine, name); });
    if (!replaced) environment.emplace_back(text);
  }
  return environment;
}

std::string find_command(const std::string& name) {
  const char* path = std::getenv("PATH");
  return find_command(name, std::string(path ? path : "") + ":/usr/sbin:/sbin");
}

std::string find_command(const std::string& name, std::string_view directories) {
  if (name.find('/') != std::string::npos) return name;
  for (const auto directory : split(directories, ':')) {
    const std::string file = std::string(directory) + "/" + name;
    if (!directory.empty() && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

CommandResult run_command(const std::vector<std::string>& command,
                          const std::vector<std::string>& environment,
                          std::chrono::milliseconds limit) {
  CommandResult result;
  int out[2];
  int err[2];
  if (::pipe2(out, O_CLOEXEC) != 0) return result;
  UniqueFd output(out[0]);
  UniqueFd output_end(out[1]);
  if (::pipe2(err, O_CLOEXEC) != 0) return result;
  UniqueFd errors(err[0]);
  UniqueFd errors_end(err[1]);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output_end.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, errors_end.get(), STDERR_FILENO);
  auto arguments = command;
  auto variables = environment;
  pid_t pid = -1;
  const auto file = find_command(command[0], search_path(environment));
  const int code = ::posix_spawn(&pid, file.c_str(), &files, nullptr, pointers_to(arguments).data(),
                                 pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&files);
  output_end.reset();
  errors_end.reset();
  if (code != 0) {
    result.status = 127;
    result.errors = command[0] + ": cannot be started";
    return result;
  }
  if (!drain_pipes(output, errors, result, Clock::now() + limit)) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace acrf::minicluster
