// SPDX-License-Identifier: GPL-2.0-or-later
#include "child_output.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/arguments.h"
#include "common/file.h"
#include "common/unique_fd.h"

extern char** environ;

namespace acrf {
namespace {

std::string read_all(int fd) {
  std::string text;
  char buffer[65536];
  for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) != 0;) {
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) break;
  }
  return text;
}

}  // namespace

Result<std::string> output_of(std::vector<std::string> words, const std::string& text) {
  const UniqueFd input(::memfd_create("acrf-input", MFD_CLOEXEC));
  if (!input || ::write(input.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return system_error("keep a text in memory");
  ::lseek(input.get(), 0, SEEK_SET);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("make a pipe");
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
  // A terminal's owner blocks signals; a program that it starts must still end.
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  const auto arguments = pointers_to(words);
  pid_t child = -1;
  const int code =
      ::posix_spawn(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  to.reset();
  if (code != 0) {
    errno = code;
    return system_error("start " + words[0]);
  }
  auto answer = read_all(from.get());
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return answer;
}

}  // namespace acrf
