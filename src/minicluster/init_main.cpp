// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-cluster-init: the first process of a cluster's own process space. See process_space.h.
// Takes requests as JSON on descriptor 3 and ends with its owner, unless it was told to stay.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/arguments.h"
#include "common/file.h"
#include "minicluster/process_space.h"

namespace {

using nlohmann::json;

constexpr int kControl = 3;

struct Daemon {
  pid_t pid = -1;
  std::optional<int> status;
};

class Init {
 public:
  int run() {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, nullptr);
    const int children = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    while (true) {
      pollfd fds[2] = {{owner_gone_ ? -1 : kControl, POLLIN, 0}, {children, POLLIN, 0}};
      ::poll(fds, 2, -1);
      reap(children);
      if (fds[0].revents != 0 && !serve()) {
        if (!keep_) return 0;
        owner_gone_ = true;
      }
    }
  }

 private:
  // False when the owner is gone.
  bool serve() {
    std::string text(1 << 20, '\0');
    const ssize_t n = ::recv(kControl, text.data(), text.size(), 0);
    if (n < 0 && errno == EINTR) return true;
    if (n <= 0) return false;
    const auto request = json::parse(text.data(), text.data() + n, nullptr, false);
    std::string reply;
    try {
      reply = answer(request).dump();
    } catch (const std::exception& problem) {
      reply = json{{"error", problem.what()}}.dump();
    }
    return ::send(kControl, reply.data(), reply.size(), MSG_NOSIGNAL) >= 0;
  }

  json answer(const json& request) {
    const std::string op = request.at("op");
    if (op == "keep") {
      keep_ = true;
      return {{"ok", true}};
    }
    const std::string name = request.at("name");
    if (op == "start") return start(name, request);
    const auto found = daemons_.find(name);
    if (found == daemons_.end()) return {{"error", name + " was never started"}};
    if (op == "state")
      return found->second.status ? json{{"status", *found->second.status}} : json::object();
    if (found->second.status) return {{"error", name + " has ended already"}};
    if (::kill(found->second.pid, request.at("signal").get<int>()) != 0)
      return {{"error", name + ": " + std::strerror(errno)}};
    return {{"ok", true}};
  }

  json start(const std::string& name, const json& request) {
    auto command = request.at("command").get<std::vector<std::string>>();
    auto environment = request.at("environment").get<std::vector<std::string>>();
    const std::string log = request.at("log");
    const pid_t pid = ::fork();
    if (pid < 0) return {{"error", "fork: " + std::string(std::strerror(errno))}};
    if (pid == 0) become(command, environment, log);
    daemons_[name] = {pid, std::nullopt};
    return {{"ok", true}};
  }

  [[noreturn]] static void become(std::vector<std::string>& command,
                                  std::vector<std::string>& environment, const std::string& log) {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::setsid();
    ::close(kControl);
    const int in = ::open("/dev/null", O_RDONLY);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (in >= 0) ::dup2(in, STDIN_FILENO);
    if (out >= 0) {
      ::dup2(out, STDOUT_FILENO);
      ::dup2(out, STDERR_FILENO);
    }
    ::execve(command[0].c_str(), acrf::pointers_to(command).data(),
             acrf::pointers_to(environment).data());
    std::fprintf(stderr, "%s: %s\n", command[0].c_str(), std::strerror(errno));
    ::_exit(127);
  }

  // Also takes in orphans: as the first process of the space, all of them fall to this one.
  void reap(int children) {
    signalfd_siginfo ignored;
    while (::read(children, &ignored, sizeof ignored) > 0) {
    }
    int status = 0;
    for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0;
         pid = ::waitpid(-1, &status, WNOHANG)) {
      for (auto& [name, daemon] : daemons_)
        if (daemon.pid == pid && !daemon.status)
          daemon.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
  }

  std::map<std::string, Daemon> daemons_;
  bool keep_ = false;
  bool owner_gone_ = false;
};

// A /proc that shows this space only, seen by nobody outside.
bool mount_proc() {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount("none", "/proc", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool own_network = argc == 3 && std::strcmp(argv[2], "network") == 0;
  if (argc != 2 && !own_network) {
    std::fprintf(stderr, "acrf-cluster-init: for ACRF's own test clusters only\n");
    return 2;
  }
  if (::unshare(CLONE_NEWPID | (own_network ? CLONE_NEWNET : 0)) != 0) {
    std::perror("acrf-cluster-init: unshare");
    return 1;
  }
  const pid_t first = ::fork();
  if (first < 0) {
    std::perror("acrf-cluster-init: fork");
    return 1;
  }
  if (first == 0) {
    ::setsid();
    if (!mount_proc()) {
      std::perror("acrf-cluster-init: mount /proc");
      return 1;
    }
    return Init().run();
  }
  const auto identity = acrf::minicluster::process_identity(first);
  const auto recorded = acrf::write_file(std::string(argv[1]) + "/init.pid", identity + "\n", 0644);
  if (!recorded) {
    std::fprintf(stderr, "acrf-cluster-init: %s\n", recorded.error().sentence.c_str());
    ::kill(first, SIGKILL);
    return 1;
  }
  return 0;
}
