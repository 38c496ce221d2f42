// SPDX-License-Identifier: GPL-2.0-or-later
#include "soak_records.h"

#include "core/hostlist.h"
#include "core/text.h"

namespace acrf::minicluster {
namespace {

// The rest of a line behind " Name=", up to `end`.
std::string_view behind(std::string_view line, const std::string& name,
                        std::string_view end = " ") {
  const auto at = line.find(" " + name + "=");
  if (at == std::string_view::npos) return {};
  const auto value = line.substr(at + name.size() + 2);
  return value.substr(0, value.find(end));
}

std::uint64_t number(std::string_view line, const std::string& name) {
  return parse_unsigned(behind(line, name)).value_or(0);
}

// "0-2,5" as bits; "N/A" is none.
GpuMask read_indices(std::string_view text) {
  GpuMask mask = 0;
  for (auto range : split(text, ',')) {
    const auto first = take_unsigned(range);
    const auto last = take_prefix(range, "-") ? take_unsigned(range) : first;
    if (!first || !last || *last > 63) continue;
    for (auto gpu = *first; gpu <= *last; ++gpu) mask |= GpuMask{1} << gpu;
  }
  return mask;
}

// All "(IDX:...)" of a gres text.
GpuMask read_gpus(std::string_view text) {
  GpuMask mask = 0;
  for (auto at = text.find("(IDX:"); at != std::string_view::npos; at = text.find("(IDX:", at + 1))
    mask |= read_indices(text.substr(at + 5, text.find(')', at) - at - 5));
  return mask;
}

// Each " Nodes=LIST CPU_IDs=... GRES=..." of a job.
GpusByNode read_allocation(std::string_view line) {
  GpusByNode gpus;
  for (auto at = line.find(" Nodes="); at != std::string_view::npos;
       at = line.find(" Nodes=", at + 1)) {
    const auto part = line.substr(at, line.find(" Nodes=", at + 1) - at);
    const auto mask = read_gpus(behind(part, "GRES"));
    const auto names = expand_hostlist(behind(part, "Nodes"));
    if (!mask || !names) continue;
    for (const auto& name : *names) gpus[name] |= mask;
  }
  return gpus;
}

template <typename Record, typename Read>
std::vector<Record> read_lines(std::string_view text, std::string_view first, const Read& read) {
  std::vector<Record> records;
  for (const auto line : split(text, '\n'))
    if (starts_with(line, first)) records.push_back(read(" " + std::string(line)));
  return records;
}

bool is_one_of(const std::string& state, std::initializer_list<const char*> states) {
  for (const auto* name : states)
    if (state == name) return true;
  return false;
}

}  // namespace

bool JobRecord::holds_gpus() const {
  return is_one_of(state, {"RUNNING", "SUSPENDED", "CONFIGURING", "RESIZING"});
}

bool JobRecord::has_ended() const {
  return is_one_of(state, {"COMPLETED", "COMPLETING", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL",
                           "PREEMPTED"});
}

bool NodeRecord::is_empty() const {
  return has_indices && allocated.empty() && !cpus_allocated && !memory_allocated_mb && !gpus;
}

std::vector<JobRecord> read_jobs(std::string_view text) {
  return read_lines<JobRecord>(text, "JobId=", [](std::string_view line) {
    JobRecord job;
    job.id = behind(line, "JobId");
    job.state = behind(line, "JobState");
    job.reason = behind(line, "Reason");
    job.restarts = number(line, "Restarts");
    job.priority = number(line, "Priority");
    job.start = static_cast<Seconds>(number(line, "StartTime"));
    job.end = static_cast<Seconds>(number(line, "EndTime"));
    job.gpus = read_allocation(line);
    return job;
  });
}

std::vector<NodeRecord> read_nodes(std::string_view text) {
  return read_lines<NodeRecord>(text, "NodeName=", [](std::string_view line) {
    NodeRecord node;
    node.name = behind(line, "NodeName");
    node.state = behind(line, "State");
    node.comment = behind(line, "Comment");
    node.reason = behind(line, "Reason", " [");
    node.allocated = behind(line, "AllocTRES");
    node.cpus = number(line, "CPUTot");
    node.cpus_allocated = number(line, "CPUAlloc");
    node.memory_mb = number(line, "RealMemory");
    node.memory_allocated_mb = number(line, "AllocMem");
    const auto used = behind(line, "GresUsed");
    node.gpus = read_gpus(used);
    node.has_indices = used.find("(IDX:") != std::string_view::npos;
    return node;
  });
}

}  // namespace acrf::minicluster
