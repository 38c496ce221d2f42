// SPDX-License-Identifier: GPL-2.0-or-later
#include "minicluster/node_processes.h"

#include <signal.h>

#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "common/file.h"
#include "core/text.h"

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLooks = 500;
constexpr std::chrono::milliseconds kPause(10);

struct Process {
  int parent = 0;
  char state = '?';
};

std::string link_of(const std::string& path) {
  std::error_code error;
  return fs::read_symlink(path, error).string();
}

// "12 (name) S 1 ...": a name may hold blanks and parentheses.
std::optional<Process> read_process(const std::string& directory) {
  const auto text = read_file(directory + "/stat");
  const auto close = text ? text->rfind(')') : std::string::npos;
  if (close == std::string::npos || close + 4 >= text->size()) return std::nullopt;
  Process process;
  process.state = (*text)[close + 2];
  auto rest = std::string_view(*text).substr(close + 4);
  process.parent = static_cast<int>(take_unsigned(rest).value_or(0));
  return process;
}

class Node {
 public:
  Node(const std::string& root, const std::string& name)
      : name_(name),
        logs_{root + "/log/slurmd-" + name + ".", root + "/log/healthd-" + name + "."} {
    const auto recorded = read_file(root + "/init.pid");
    auto text = std::string_view(recorded ? *recorded : "");
    init_ = static_cast<int>(take_unsigned(text).value_or(0));
    space_ = link_of("/proc/" + std::to_string(init_) + "/ns/pid");
  }

  bool is_known() const { return !space_.empty(); }

  // The node's living processes, by number.
  std::map<int, Process> processes() const {
    const auto all = all_processes();
    std::map<int, Process> found;
    for (const auto& [pid, process] : all)
      if (belongs(pid)) found.emplace(pid, process);
    for (bool grew = true; grew;) {
      grew = false;
      for (const auto& [pid, process] : all)
        grew |= found.contains(process.parent) && found.emplace(pid, process).second;
    }
    return found;
  }

 private:
  std::map<int, Process> all_processes() const {
    std::map<int, Process> all;
    std::error_code error;
    for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
         entry.increment(error)) {
      const auto pid = parse_unsigned(entry->path().filename().native());
      if (!pid || static_cast<int>(*pid) == init_) continue;
      if (link_of(entry->path().string() + "/ns/pid") != space_) continue;
      const auto process = read_process(entry->path().string());
      if (process && process->state != 'Z') all.emplace(static_cast<int>(*pid), *process);
    }
    return all;
  }

  // By its log, or by the name of the node that Slurm gives to whatever a job runs.
  bool belongs(int pid) const {
    const auto directory = "/proc/" + std::to_string(pid);
    std::error_code error;
    for (fs::directory_iterator entry(directory + "/fd", error), end; !error && entry != end;
         entry.increment(error)) {
      const auto target = link_of(entry->path().string());
      if (starts_with(target, logs_[0]) || starts_with(target, logs_[1])) return true;
    }
    const auto variables = read_file(directory + "/environ");
    const std::string mine("SLURMD_NODENAME=" + name_);
    if (variables)
      for (const auto variable : split(*variables, '\0'))
        if (variable == mine) return true;
    return false;
  }

  std::string name_;
  std::string logs_[2];
  int init_ = 0;
  std::string space_;
};

}  // namespace

Status signal_node(const std::string& root, const std::string& node, int signal) {
  const Node processes(root, node);
  if (!processes.is_known()) return Error{ErrorCode::kNotFound, "no cluster runs in " + root};
  for (int look = 0; look < kMostLooks; ++look) {
    bool all_done = true;
    for (const auto& [pid, process] : processes.processes()) {
      const bool is_stopped = process.state == 'T';
      if (signal == SIGSTOP && is_stopped) continue;
      if (signal == SIGCONT && !is_stopped) continue;
      all_done = false;
      ::kill(pid, signal);
    }
    if (all_done) return Done{};
    if (signal != SIGKILL && signal != SIGSTOP && signal != SIGCONT) return Done{};
    std::this_thread::sleep_for(kPause);
  }
  return Error{ErrorCode::kUnavailable, "processes of node " + node + " do not end or stop"};
}

}  // namespace acrf::minicluster
