// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/process_table.h"

#include <filesystem>
#include <utility>

#include "common/file.h"
#include "core/gpu_owner.h"
#include "core/text.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kReadAgain_s = 60;
constexpr std::int64_t kListAgain_s = 30;  // on a node where processes come and go all the time
constexpr char kStepDaemon[] = "slurmstepd";

// The number behind `mark` in a file.
std::optional<std::uint64_t> number_behind(const std::string& path, std::string_view mark) {
  const auto text = read_file(path);
  const auto at = text ? text->find(mark) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(at + mark.size());
  return take_unsigned(rest);
}

}  // namespace

// "12 (name) S 1 ...": a name may hold blanks and parentheses.
std::optional<ProcessTable::Process> ProcessTable::read_process(int pid) const {
  const auto directory = directory_of(pid);
  const auto text = read_file(directory + "/stat");
  if (!text) return std::nullopt;
  const auto open = text->find('('), close = text->rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 2 >= text->size())
    return std::nullopt;
  Process process;
  process.name = text->substr(open + 1, close - open - 1);
  process.state = (*text)[close + 2];
  const auto groups = read_file(directory + "/cgroup");
  if (const auto owner = groups ? job_of_cgroup(*groups) : std::nullopt) process.job = owner->job;
  // Slurm's step daemon writes "slurmstepd: [12.batch]" over its arguments.
  if (process.name == kStepDaemon)
    process.serves = number_behind(directory + "/cmdline", "slurmstepd: [");
  return process;
}

bool ProcessTable::holds_gpu(int pid) const {
  std::error_code error;
  for (fs::directory_iterator entry(directory_of(pid) + "/fd", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    const std::string target = fs::read_symlink(entry->path(), gone);
    if (starts_with(target, "/dev/nvidia") || starts_with(target, "/dev/kfd") ||
        starts_with(target, "/dev/dri/render"))
      return true;
  }
  return false;
}

// "0.20 0.18 0.12 1/80 11206": of the last two words the count behind the stroke and the id.
bool ProcessTable::has_changed(std::int64_t now_s) {
  const bool is_too_soon = now_s - listed_s_ < kListAgain_s && !lost_slurmd_;
  if (kernel_counts_ && is_too_soon) return false;
  const auto text = read_file(proc_ + "/loadavg");
  const auto stroke = text ? text->find('/') : std::string::npos;
  kernel_counts_ = stroke != std::string::npos;
  if (!kernel_counts_) return true;
  if (is_too_soon) return false;
  auto tasks = text->substr(stroke);
  if (tasks == tasks_) return false;
  tasks_ = std::move(tasks);
  return true;
}

void ProcessTable::list(std::int64_t now_s) {
  std::map<int, Process> seen;
  std::error_code error;
  for (fs::directory_iterator entry(proc_, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto number = parse_unsigned(entry->path().filename().native());
    if (!number) continue;
    const int pid = static_cast<int>(*number);
    if (auto known = known_.extract(pid); !known.empty()) {
      seen.insert(std::move(known));
    } else if (auto process = read_process(pid)) {
      // From the second time on, each at its own second of the minute.
      process->read_s = now_s - pid % kReadAgain_s;
      seen.emplace(pid, std::move(*process));
    }
  }
  known_ = std::move(seen);
  listed_s_ = now_s;
}

void ProcessTable::update(std::int64_t now_s) {
  const bool is_old = now_s - listed_s_ >= kReadAgain_s;
  if (known_.empty() || is_old || has_changed(now_s)) list(now_s);
  for (auto process = known_.begin(); process != known_.end();) {
    if (now_s - process->second.read_s < kReadAgain_s) {
      ++process;
    } else if (auto again = read_process(process->first)) {
      again->read_s = now_s;
      (process++)->second = std::move(*again);
    } else {
      process = known_.erase(process);
    }
  }
}

// One that has ended is nobody's any more.
void ProcessTable::refresh(int pid, Process& process) const {
  const auto read_s = process.read_s;
  process = read_process(pid).value_or(Process{});
  process.read_s = read_s;
}

std::set<std::uint64_t> ProcessTable::running_jobs() const {
  std::set<std::uint64_t> jobs;
  for (const auto& [pid, process] : known_)
    if (process.serves) jobs.insert(*process.serves);
  return jobs;
}

// A slurmd that is gone may just have been started again: the next look lists all.
void ProcessTable::find_services(NodeReadings& readings) {
  readings.slurmd_runs = readings.slurmd_blocked = readings.fabric_manager_runs = false;
  for (auto& [pid, process] : known_) {
    // The kernel keeps 15 characters of a name.
    if (process.name == "nv-fabricmanage") readings.fabric_manager_runs = true;
    if (process.name != "slurmd") continue;
    refresh(pid, process);
    if (process.name != "slurmd") continue;
    readings.slurmd_runs = true;
    readings.slurmd_blocked = process.state == 'D';
  }
  lost_slurmd_ = had_slurmd_ && !*readings.slurmd_runs;
  had_slurmd_ = *readings.slurmd_runs;
}

void ProcessTable::find_stuck(NodeReadings& readings) {
  const auto seems_left = [](const Process& process, const std::set<std::uint64_t>& jobs) {
    return process.job && jobs.count(*process.job) == 0;
  };
  auto jobs = running_jobs();
  bool any = false;
  for (const auto& [pid, process] : known_) any = any || seems_left(process, jobs);
  if (!any) return;
  // A step daemon may have been seen before it had its name.
  for (auto& [pid, process] : known_)
    if (starts_with(process.name, "slurm")) refresh(pid, process);
  jobs = running_jobs();
  for (auto& [pid, process] : known_) {
    if (!seems_left(process, jobs)) continue;
    refresh(pid, process);
    if (!seems_left(process, jobs)) continue;
    // A zombie that nobody can bury has threads which the driver does not let go.
    const bool blocked = process.state == 'D' || process.state == 'Z';
    if (!blocked && !holds_gpu(pid)) continue;
    readings.stuck.push_back(
        {pid, process.name,
         "job " + std::to_string(*process.job) + " has ended" +
             (blocked ? std::string(", it is in state ") + process.state : "")});
  }
}

void ProcessTable::read(std::int64_t now_s, NodeReadings& readings) {
  update(now_s);
  if (known_.empty()) return;
  find_services(readings);
  find_stuck(readings);
}

}  // namespace acrf
