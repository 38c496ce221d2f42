// SPDX-License-Identifier: GPL-2.0-or-later
#include "minicluster/process_space.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "build_paths.h"
#include "common/file.h"
#include "core/text.h"

extern char** environ;

namespace acrf::minicluster {
namespace {

using nlohmann::json;

constexpr int kStopLimitMs = 10'000;

Result<json> ask(int control, std::mutex& asking, const json& request) {
  const std::lock_guard lock(asking);
  const std::string text = request.dump();
  if (::send(control, text.data(), text.size(), MSG_NOSIGNAL) < 0)
    return system_error("ask the cluster's first process");
  char answer[4096];
  ssize_t n;
  do {
    n = ::recv(control, answer, sizeof answer, 0);
  } while (n < 0 && errno == EINTR);
  if (n <= 0) return Error{ErrorCode::kUnavailable, "the cluster's first process has ended"};
  auto reply = json::parse(answer, answer + n, nullptr, false);
  if (!reply.is_object()) return Error{ErrorCode::kInvalid, "unreadable answer from it"};
  if (reply.contains("error")) return Error{ErrorCode::kSystem, reply["error"].get<std::string>()};
  return reply;
}

}  // namespace

std::string process_identity(int pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!stat) return "";
  // Fields are counted from behind the command's name, which may itself contain blanks.
  const auto fields = split(std::string_view(*stat).substr(stat->rfind(')') + 2), ' ');
  return fields.size() > 19 ? std::to_string(pid) + " " + std::string(fields[19]) : "";
}

Result<ProcessSpace> ProcessSpace::create(const std::string& root, bool own_network) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return system_error("create a socket pair");
  UniqueFd mine(pair[0]);
  UniqueFd theirs(pair[1]);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, theirs.get(), 3);
  std::string program = ACRF_CLUSTER_INIT;
  std::string directory = root;
  std::string network = "network";
  char* arguments[] = {program.data(), directory.data(), own_network ? network.data() : nullptr,
                       nullptr};
  pid_t pid = -1;
  const int code = ::posix_spawn(&pid, program.c_str(), &files, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  if (code != 0) {
    errno = code;
    return system_error("start " + program);
  }
  theirs.reset();
  // What was started only sets the space up; it ends when that is done.
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) {
    return Error{
        ErrorCode::kDenied,
        "cannot make a process space of its own (needs root, and PID and mount namespaces)"};
  }
  return ProcessSpace(std::move(mine));
}

Status ProcessSpace::start(const std::string& name, const std::vector<std::string>& command,
                           const std::vector<std::string>& environment, const std::string& log) {
  const auto reply = ask(control_.get(), *asking_,
                         {{"op", "start"},
                          {"name", name},
                          {"command", command},
                          {"environment", environment},
                          {"log", log}});
  if (!reply) return reply.error();
  return Done{};
}

Status ProcessSpace::signal(const std::string& name, int signal) {
  const auto reply =
      ask(control_.get(), *asking_, {{"op", "signal"}, {"name", name}, {"signal", signal}});
  if (!reply) return reply.error();
  return Done{};
}

Result<std::optional<int>> ProcessSpace::ended(const std::string& name) {
  const auto reply = ask(control_.get(), *asking_, {{"op", "state"}, {"name", name}});
  if (!reply) return reply.error();
  if (reply->contains("status")) return std::optional<int>((*reply)["status"].get<int>());
  return std::optional<int>();
}

Status ProcessSpace::keep() {
  const auto reply = ask(control_.get(), *asking_, {{"op", "keep"}});
  if (!reply) return reply.error();
  return Done{};
}

Result<bool> stop_recorded(const std::string& root) {
  const auto record = read_file(root + "/init.pid");
  if (!record) return false;
  const std::string identity(trim(*record));
  const auto pid = parse_unsigned(identity.substr(0, identity.find(' ')));
  if (!pid) return Error{ErrorCode::kInvalid, root + "/init.pid is not a process"};
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
  if (!process || process_identity(static_cast<int>(*pid)) != identity) return false;
  if (::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0) != 0)
    return system_error("stop process " + identity);
  // The first process of a space is gone only after all the others.
  pollfd gone = {process.get(), POLLIN, 0};
  if (::poll(&gone, 1, kStopLimitMs) != 1)
    return Error{ErrorCode::kSystem, "process " + identity + " does not end"};
  return true;
}

}  // namespace acrf::minicluster
