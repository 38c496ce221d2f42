// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "common/file.h"
#include "core/text.h"
#include "sources/node_readings.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;

struct Process {
  int pid = 0;
  std::string name;
  char state = '?';
  std::optional<std::uint64_t> job;  // by its control group
};

// "12 (name) S 1 ...": a name may hold blanks and parentheses.
std::optional<Process> read_process(const std::string& directory, int pid) {
  const auto text = read_file(directory + "/stat");
  if (!text) return std::nullopt;
  const auto open = text->find('('), close = text->rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 2 >= text->size())
    return std::nullopt;
  Process process{pid, text->substr(open + 1, close - open - 1), (*text)[close + 2], {}};
  const auto groups = read_file(directory + "/cgroup");
  const auto at = groups ? groups->find("/job_") : std::string::npos;
  if (at != std::string::npos) {
    std::string_view rest = std::string_view(*groups).substr(at + 5);
    process.job = take_unsigned(rest);
  }
  return process;
}

std::vector<Process> list_processes(const std::string& proc) {
  std::vector<Process> processes;
  std::error_code error;
  for (fs::directory_iterator entry(proc, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    const auto pid = parse_unsigned(name);
    if (!pid) continue;
    if (auto process = read_process(entry->path(), static_cast<int>(*pid)))
      processes.push_back(std::move(*process));
  }
  return processes;
}

// Slurm's step daemon writes "slurmstepd: [12.batch]" over its arguments.
std::optional<std::uint64_t> job_of_step_daemon(const std::string& directory) {
  const auto text = read_file(directory + "/cmdline");
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  if (!take_prefix(rest, "slurmstepd: [")) return std::nullopt;
  return take_unsigned(rest);
}

bool holds_gpu(const std::string& directory) {
  std::error_code error;
  for (fs::directory_iterator entry(directory + "/fd", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    const std::string target = fs::read_symlink(entry->path(), gone);
    if (starts_with(target, "/dev/nvidia") || starts_with(target, "/dev/kfd") ||
        starts_with(target, "/dev/dri/render"))
      return true;
  }
  return false;
}

// Fields of a mount table have blanks and the like as \040.
std::string unescape(std::string_view field) {
  std::string text;
  while (!field.empty()) {
    const auto code = field.front() == '\\' && field.size() >= 4
                          ? parse_unsigned(field.substr(1, 3), 8)
                          : std::nullopt;
    text += code ? static_cast<char>(*code) : field.front();
    field.remove_prefix(code ? 4 : 1);
  }
  return text;
}

std::optional<bool> read_clock() {
  timex state{};
  const int code = ::adjtimex(&state);
  if (code < 0) return std::nullopt;
  return code != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}

int percent_used(std::uint64_t total, std::uint64_t free) {
  return total == 0 ? 0 : static_cast<int>((total - std::min(free, total)) * 100 / total);
}

}  // namespace

MemoryReading read_memory(const std::string& root) {
  MemoryReading reading;
  const auto text = read_file(root + "/proc/meminfo");
  if (!text) return reading;
  for (const auto line : split(*text, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    auto rest = trim(line.substr(colon + 1));
    const auto name = line.substr(0, colon);
    const auto number = take_unsigned(rest);
    if (name == "MemTotal") reading.total_kb = number;
    if (name == "MemAvailable") reading.available_kb = number;
    if (name == "HardwareCorrupted") reading.corrupted_kb = number;
  }
  return reading;
}

void read_processes(const std::string& root, NodeReadings& readings) {
  const std::string proc = root + "/proc";
  const auto processes = list_processes(proc);
  if (processes.empty()) return;
  readings.slurmd_runs = readings.slurmd_blocked = readings.fabric_manager_runs = false;
  std::set<std::uint64_t> jobs;
  for (const auto& process : processes) {
    if (process.name == "slurmd") {
      readings.slurmd_runs = true;
      readings.slurmd_blocked = process.state == 'D';
    }
    // The kernel keeps 15 characters of a name.
    if (process.name == "nv-fabricmanage") readings.fabric_manager_runs = true;
    if (const auto job = job_of_step_daemon(proc + "/" + std::to_string(process.pid)))
      jobs.insert(*job);
  }
  for (const auto& process : processes) {
    if (!process.job || jobs.contains(*process.job)) continue;
    const bool blocked = process.state == 'D';
    if (!blocked && !holds_gpu(proc + "/" + std::to_string(process.pid))) continue;
    readings.stuck.push_back({process.pid, process.name,
                              "job " + std::to_string(*process.job) + " has ended" +
                                  (blocked ? ", it is in state D" : "")});
  }
}

FileSystemReading read_file_system(const std::string& path, const std::string& mounts,
                                   const std::string& root) {
  FileSystemReading reading;
  reading.mounted = false;
  for (const auto line : split(mounts, '\n')) {
    const auto fields = split(line, ' ');
    if (fields.size() < 3 || unescape(fields[1]) != path) continue;
    reading.mounted = true;
    reading.type = fields[2];  // of several mounts on one place the last is on top
  }
  if (!*reading.mounted) return reading;
  struct statvfs status;
  if (::statvfs((root + path).c_str(), &status) != 0) return reading;
  reading.writable = (status.f_flag & ST_RDONLY) == 0;
  reading.used_percent = percent_used(
      status.f_blocks, status.f_bfree > status.f_bavail ? status.f_bavail : status.f_bfree);
  reading.used_inodes_percent = percent_used(status.f_files, status.f_ffree);
  return reading;
}

NodeReadings read_node(const NodePaths& paths) {
  NodeReadings readings;
  readings.ports = read_ports(paths.root);
  readings.memory_controllers = read_memory_controllers(paths.root);
  readings.pcie = read_pcie(paths.root);
  readings.gpus = read_gpu_count(paths);
  readings.memory = read_memory(paths.root);
  read_processes(paths.root, readings);
  if (paths.root.empty()) readings.clock_synchronized = read_clock();
  std::error_code error;
  const fs::path switches = paths.root + "/proc/driver/nvidia-nvswitch/devices";
  if (fs::is_directory(switches, error)) readings.has_nvswitches = !fs::is_empty(switches, error);
  return readings;
}

}  // namespace acrf
