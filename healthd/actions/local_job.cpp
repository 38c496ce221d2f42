// SPDX-License-Identifier: GPL-2.0-or-later
#include "actions/local_job.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>
#include <map>
#include <set>

#include "common/file.h"
#include "common/unique_fd.h"
#include "core/gpu_owner.h"
#include "core/text.h"
#include "sources/job_probe.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;

// Who listens there; 0: nobody, or a process of another space.
int listener_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return 0;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return 0;
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

// By process, with the step's name.
std::map<int, std::string> step_daemons(const std::string& spool, const std::string& node,
                                        JobId job) {
  std::map<int, std::string> daemons;
  std::error_code error;
  for (fs::directory_iterator entry(spool, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto step = parse_step_socket(entry->path().filename().string(), node);
    if (!step || step->first != job) continue;
    if (const int pid = listener_at(entry->path().string()); pid > 1)
      daemons.emplace(pid, step->second);
  }
  return daemons;
}

struct Process {
  int parent = 0;
  bool in_group = false;  // of the job's control groups
};

std::optional<Process> read_process(int pid, JobId job) {
  const auto directory = "/proc/" + std::to_string(pid);
  const auto text = read_file(directory + "/stat");
  const auto close = text ? text->rfind(')') : std::string::npos;
  if (close == std::string::npos || close + 4 >= text->size() || (*text)[close + 2] == 'Z')
    return std::nullopt;
  auto rest = std::string_view(*text).substr(close + 4);
  Process process;
  process.parent = static_cast<int>(take_unsigned(rest).value_or(0));
  const auto groups = read_file(directory + "/cgroup");
  const auto owner = groups ? job_of_cgroup(*groups) : std::nullopt;
  process.in_group = owner && owner->job == job.value;
  return process;
}

}  // namespace

JobHere find_job_here(const std::string& spool, const std::string& node, JobId job) {
  const auto daemons = step_daemons(spool, node, job);
  std::map<int, Process> all;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const auto number = parse_unsigned(entry->path().filename().native());
    const int pid = number ? static_cast<int>(*number) : 0;
    if (const auto process = pid > 1 ? read_process(pid, job) : std::nullopt)
      all.emplace(pid, *process);
  }
  std::set<int> found;
  for (const auto& daemon : daemons) found.insert(daemon.first);
  for (const auto& [pid, process] : all)
    if (process.in_group) found.insert(pid);
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& [pid, process] : all)
      grew |= found.contains(process.parent) && found.insert(pid).second;
  }
  JobHere local;
  for (const auto& [pid, step] : daemons) local.has_script_daemon |= step == "batch";
  for (const int pid : found)
    if (!daemons.contains(pid) && all.contains(pid)) local.program.push_back(pid);
  return local;
}

}  // namespace acrf
