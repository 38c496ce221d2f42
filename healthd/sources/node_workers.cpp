// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/node_workers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>

#include "common/arguments.h"
#include "common/file.h"
#include "common/unique_fd.h"
#include "sources/finding_json.h"
#include "sources/kernel_log_source.h"
#include "sources/probe.h"

namespace acrf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kOutputKept = 4096;
constexpr int kKilledEndsWithin_ms = 1000;

std::int64_t monotonic_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(Clock::now().time_since_epoch()).count();
}

int answer_requests(const std::function<std::string()>& answer) {
  for (std::string request; std::getline(std::cin, request);) {
    std::printf("%s\n", answer().c_str());
    std::fflush(stdout);
  }
  return 0;
}

// A program that was started, and the end of its output that stays here.
struct Child {
  pid_t pid = -1;
  UniqueFd process;
  UniqueFd output;
};

Result<Child> start(std::vector<std::string>& program, const std::string& node) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return system_error("create a pipe");
  Child child;
  child.output.reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  ::fcntl(theirs.get(), F_SETFL, 0);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, theirs.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C",
                                          "ACRF_NODE=" + node};
  const int code = ::posix_spawn(&child.pid, program[0].c_str(), &files, &attributes,
                                 pointers_to(program).data(), pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (code != 0)
    return Error{ErrorCode::kSystem, "start " + program[0] + ": " + std::strerror(code)};
  child.process.reset(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
  return child;
}

bool ends_within(const Child& child, int milliseconds) {
  pollfd process = {child.process.get(), POLLIN, 0};
  return ::poll(&process, 1, milliseconds) == 1;
}

// Keeps the first bytes, throws the rest away. False when the output has ended.
bool take_output(const Child& child, std::string& output) {
  char buffer[65536];
  const ssize_t n = ::read(child.output.get(), buffer, sizeof buffer);
  if (n > 0 && output.size() < kOutputKept)
    output.append(buffer,
                  std::min<std::size_t>(static_cast<std::size_t>(n), kOutputKept - output.size()));
  return n != 0;
}

// True when the program ended by itself before the deadline and before its owner left.
bool wait_for_end(const Child& child, int owner, Clock::time_point deadline, std::string& output) {
  bool has_output = true;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd fds[3] = {{child.process.get(), POLLIN, 0},
                     {has_output ? child.output.get() : -1, POLLIN, 0},
                     {owner, 0, 0}};
    if (::poll(fds, 3, static_cast<int>(left)) < 0) continue;
    if (fds[2].revents & POLLHUP) return false;
    if (fds[1].revents) has_output = take_output(child, output);
    if (fds[0].revents) {
      while (has_output && output.size() < kOutputKept) {
        const auto before = output.size();
        has_output = take_output(child, output);
        if (output.size() == before) break;
      }
      return true;
    }
  }
}

}  // namespace

CheckResult run_check(std::vector<std::string> program, int timeout_s, const std::string& node,
                      int owner) {
  const auto child = start(program, node);
  if (!child) return {std::nullopt, child.error().sentence};
  std::string output;
  const bool ended =
      wait_for_end(*child, owner, Clock::now() + std::chrono::seconds(timeout_s), output);
  ::kill(-child->pid, SIGKILL);  // and what it left behind
  if (!ended && !ends_within(*child, kKilledEndsWithin_ms))
    return {std::nullopt, "killed after " + std::to_string(timeout_s) + " s, and does not end", "",
            true};
  int status = 0;
  ::waitpid(child->pid, &status, 0);
  if (!ended)
    return {std::nullopt, "killed after " + std::to_string(timeout_s) + " s", output, true};
  if (WIFSIGNALED(status))
    return {std::nullopt, "ended by signal " + std::to_string(WTERMSIG(status))};
  return {WEXITSTATUS(status), printable_line(output.substr(0, output.find('\n')), 400), output};
}

int run_node_probe(const NodePaths& paths, const std::string& memory_path) {
  NodeRules rules;
  NodeReader node(paths);
  const auto boot_id = read_boot_id(paths.root);
  const bool remembers = !memory_path.empty() && boot_id;
  std::string remembered;
  if (remembers)
    if (const auto text = read_file(memory_path)) rules.take_text(remembered = *text, *boot_id);
  return answer_requests([&] {
    const auto now_s = monotonic_s();
    auto answer = findings_to_json(rules.observe(node.read(now_s), now_s));
    if (remembers)
      if (auto text = rules.to_text(*boot_id); text != remembered)
        if (replace_file(memory_path, text)) remembered = std::move(text);
    return answer;
  });
}

// As init sees them: systemd gives a service a view of its own, with a read-only /usr and no /home.
// Where init's view is closed to us, our own is reported without the type, which leads to no
// action.
int run_file_system_probe(const std::string& path) {
  const bool sees_all = ::access("/proc/1/root/", X_OK) == 0;
  return answer_requests([&] {
    const auto mounts = read_file(sees_all ? "/proc/1/mounts" : "/proc/self/mounts");
    if (!mounts) return file_system_to_json({});
    auto reading = read_file_system(path, *mounts, sees_all ? "/proc/1/root" : "");
    if (!sees_all) reading.type.clear();
    return file_system_to_json(reading);
  });
}

int run_check_worker(const std::vector<std::string>& program, int timeout_s,
                     const std::string& node) {
  ::signal(SIGCHLD, SIG_DFL);  // the daemon ignores its children; here their end is the result
  if (::chdir("/") != 0) return 1;
  ::fcntl(kPlaceFd, F_SETFD, FD_CLOEXEC);  // not for the site's program
  return answer_requests(
      [&] { return check_result_to_json(run_check(program, timeout_s, node, STDIN_FILENO)); });
}

}  // namespace acrf
