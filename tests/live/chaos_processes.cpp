// SPDX-License-Identifier: GPL-2.0-or-later
#include "chaos_processes.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "common/file.h"
#include "core/text.h"

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;

std::string link_of(const std::string& path) {
  std::error_code error;
  return fs::read_symlink(path, error).string();
}

std::string in_proc(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

// All that live in the cluster's process space, but for its first process.
std::vector<pid_t> processes_of(const Cluster& cluster) {
  const pid_t first = cluster.init_pid();
  const auto space = link_of(in_proc(first, "ns/pid"));
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const auto number = parse_unsigned(entry.path().filename().string());
    if (!number) continue;
    const auto pid = static_cast<pid_t>(*number);
    if (pid != first && !space.empty() && link_of(in_proc(pid, "ns/pid")) == space)
      found.push_back(pid);
  }
  return found;
}

std::string variable_of(const std::string& environment, const std::string& name) {
  for (const auto entry : split(environment, '\0'))
    if (starts_with(entry, name + "=")) return std::string(entry.substr(name.size() + 1));
  return "";
}

// As /proc/PID/ns/net names it. The file that holds it is mounted inside the cluster only.
std::string network_of(const Cluster& cluster, const std::string& node) {
  struct stat file {};
  const auto path = in_proc(cluster.init_pid(), "root") + cluster.path("net/" + node);
  return ::stat(path.c_str(), &file) == 0 ? "net:[" + std::to_string(file.st_ino) + "]" : "";
}

}  // namespace

std::vector<JobProcess> job_processes(const Cluster& cluster) {
  std::vector<JobProcess> found;
  for (const auto pid : processes_of(cluster)) {
    const auto environment = read_file(in_proc(pid, "environ"));
    const auto command = read_file(in_proc(pid, "cmdline"));
    if (!environment || !command || command->empty()) continue;
    JobProcess process{pid, variable_of(*environment, "SLURM_JOB_ID"),
                       variable_of(*environment, "SLURMD_NODENAME"), ""};
    const auto words = split(*command, '\0');
    process.what =
        fs::path(words.back().empty() && words.size() > 1 ? words[words.size() - 2] : words[0])
            .filename();
    if (process.job.empty() || starts_with(*command, "slurmstepd")) continue;
    if (process.what == "rank" || process.what == "slurm_script" || words[0] == "srun")
      found.push_back(process);
  }
  std::sort(found.begin(), found.end(), [](const JobProcess& a, const JobProcess& b) {
    return std::tie(a.job, a.what, a.node, a.pid) < std::tie(b.job, b.what, b.node, b.pid);
  });
  return found;
}

int signal_node(const Cluster& cluster, const std::string& node, int signal) {
  int signalled = 0;
  const auto wanted = network_of(cluster, node);
  for (const auto pid : processes_of(cluster))
    if (!wanted.empty() && link_of(in_proc(pid, "ns/net")) == wanted && ::kill(pid, signal) == 0)
      ++signalled;
  return signalled;
}

}  // namespace acrf::minicluster
