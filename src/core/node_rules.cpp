// SPDX-License-Identifier: GPL-2.0-or-later
// Limits without another source are our own choice and lead to no action.
#include "core/node_rules.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

constexpr int kLowMemoryPerMille = 10;
constexpr int kReadingsToBeStuck = 2;

Verdict watch(const char* fault_class, Scope scope = Scope::kNode) {
  return {fault_class, Severity::kWarning, scope, Action::kWatch};
}

void append(std::vector<Finding>& all, std::vector<Finding> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

std::vector<Finding> MemoryControllerRule::observe(const MemoryControllerReading& reading,
                                                   std::int64_t now_s) {
  std::vector<Finding> findings;
  if (storm_.observe(now_s, reading.corrected))
    findings.push_back({watch("edac_corrected_storm"), reading.name,
                        "at least 60 corrected memory errors a minute"});
  if (const auto errors = uncorrected_.observe(now_s, reading.uncorrected); errors > 0)
    findings.push_back(
        {{"edac_uncorrected", Severity::kCritical, Scope::kNode, Action::kDrain, true},
         reading.name,
         std::to_string(errors) + " uncorrected memory errors"});
  return findings;
}

std::vector<Finding> PcieRule::observe(const PcieReading& reading, std::int64_t now_s) {
  std::vector<Finding> findings;
  if (correctable_.observe(now_s, reading.correctable))
    findings.push_back({watch("pcie_correctable_storm"), reading.device,
                        "at least 100 corrected PCIe errors a minute"});
  if (const auto errors = nonfatal_.observe(now_s, reading.nonfatal); errors > 0)
    findings.push_back({watch("pcie_nonfatal"), reading.device,
                        std::to_string(errors) + " nonfatal PCIe errors in an hour"});
  if (const auto errors = fatal_.observe(now_s, reading.fatal); errors > 0) {
    const Verdict on_gpu{"pcie_fatal", Severity::kCritical, Scope::kGpu, Action::kRebootNode};
    findings.push_back({reading.is_gpu ? on_gpu : watch("pcie_fatal"), reading.device,
                        std::to_string(errors) + " fatal PCIe errors"});
  }
  return findings;
}

// A bus on which no GPU was ever seen is one that this daemon cannot see: a finding for people.
std::vector<Finding> GpuCountRule::observe(const GpuCountReading& reading, std::int64_t now_s) {
  if (reading.on_bus) most_seen_ = std::max(most_seen_, *reading.on_bus);
  if (!reading.expected || (!reading.on_bus && reading.missing_files.empty())) return {};
  const int found = reading.on_bus.value_or(*reading.expected);
  const bool lacks_gpus = lacks_gpus_.update(now_s, found < *reading.expected);
  const bool lacks_files = lacks_files_.update(now_s, !reading.missing_files.empty());
  if (!lacks_gpus && !lacks_files) return {};
  const std::string evidence =
      "gres.conf has " + std::to_string(*reading.expected) + " GPUs, the bus " +
      (reading.on_bus ? std::to_string(found) : std::string("is unknown")) +
      (reading.missing_files.empty() ? ""
                                     : ", and " + reading.missing_files.front() + " is not there");
  // Only a GPU that was there and is gone from the bus counts as lost.
  if (most_seen_ >= *reading.expected && lacks_gpus)
    return {{{"gpu_missing", Severity::kCritical, Scope::kNode, Action::kRebootNode, true},
             "",
             evidence}};
  return {{watch("gpu_not_found"), "", evidence}};
}

bool needs_consent(std::string_view fault_class) { return starts_with(fault_class, "fs_"); }

void NodeRules::observe_memory(const MemoryReading& reading, std::vector<Finding>& findings) {
  if (reading.total_kb && reading.available_kb && *reading.total_kb > 0)
    memory_low_.observe(*reading.available_kb / (*reading.total_kb / 1000 + 1) <
                        kLowMemoryPerMille);
  if (memory_low_.holds())
    findings.push_back({watch("memory_low"), "", "less than 1 % of the memory is available"});
  if (reading.corrupted_kb.value_or(0) > 0)
    findings.push_back({watch("memory_corrupted"), "",
                        std::to_string(*reading.corrupted_kb) + " kB of memory are set aside"});
}

void NodeRules::observe_services(const NodeReadings& readings, std::vector<Finding>& findings) {
  if (readings.clock_synchronized) clock_off_.observe(!*readings.clock_synchronized);
  if (clock_off_.holds())
    findings.push_back({watch("clock_unsynchronized"), "", "the clock is not synchronized"});
  if (readings.has_nvswitches && readings.fabric_manager_runs)
    fabric_manager_gone_.observe(*readings.has_nvswitches && !*readings.fabric_manager_runs);
  if (fabric_manager_gone_.holds())
    findings.push_back(
        {{"fabric_manager_gone", Severity::kWarning, Scope::kFabric, Action::kCheckFabric},
         "",
         "there are NVSwitches and no nv-fabricmanager"});
  if (readings.slurmd_runs) slurmd_gone_.observe(!*readings.slurmd_runs);
  if (slurmd_gone_.holds()) findings.push_back({watch("slurmd_gone"), "", "slurmd does not run"});
  if (readings.slurmd_blocked) slurmd_blocked_.observe(*readings.slurmd_blocked);
  if (slurmd_blocked_.holds())
    findings.push_back({watch("slurmd_blocked"), "", "slurmd is stuck in a system call"});
}

std::vector<Finding> NodeRules::observe(const NodeReadings& readings, std::int64_t now_s) {
  std::vector<Finding> findings;
  for (const auto& port : readings.ports) append(findings, ports_[port.name].observe(port, now_s));
  for (const auto& controller : readings.memory_controllers)
    append(findings, memory_controllers_[controller.name].observe(controller, now_s));
  for (const auto& device : readings.pcie)
    append(findings, pcie_[device.device].observe(device, now_s));
  append(findings, gpus_.observe(readings.gpus, now_s));
  observe_memory(readings.memory, findings);
  observe_services(readings, findings);

  std::map<int, int> stuck;
  for (const auto& process : readings.stuck) {
    stuck[process.pid] = stuck_readings_[process.pid] + 1;
    if (stuck[process.pid] >= kReadingsToBeStuck)
      findings.push_back({watch("gpu_process_stuck", Scope::kProcess),
                          "pid " + std::to_string(process.pid),
                          process.name + " holds a GPU: " + process.why});
  }
  stuck_readings_ = std::move(stuck);
  return findings;
}

}  // namespace acrf
