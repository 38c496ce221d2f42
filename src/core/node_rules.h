// SPDX-License-Identifier: GPL-2.0-or-later
// What the node's own readings mean, over time. Every field of a reading may be unknown, and an
// unknown one neither starts nor ends a finding.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/node_verdict.h"
#include "core/port_rule.h"
#include "core/reading_window.h"

namespace acrf {

struct MemoryControllerReading {
  std::string name;  // "mc0"
  Reading corrected, uncorrected;
};

struct PcieReading {
  std::string device;  // "0000:1a:00.0"
  bool is_gpu = false;
  Reading correctable, nonfatal, fatal;
};

struct GpuCountReading {
  std::optional<int> expected;  // by gres.conf
  std::optional<int> on_bus;
  std::vector<std::string> missing_files;  // of gres.conf's File=
};

struct MemoryReading {
  Reading total_kb, available_kb, corrupted_kb;
};

struct StuckProcess {
  int pid = 0;
  std::string name;
  std::string why;  // "in state D", "its job has ended"
};

struct NodeReadings {
  std::vector<PortReading> ports;
  std::vector<MemoryControllerReading> memory_controllers;
  std::vector<PcieReading> pcie;
  GpuCountReading gpus;
  MemoryReading memory;
  std::vector<StuckProcess> stuck;  // that hold a GPU
  std::optional<bool> clock_synchronized;
  std::optional<bool> has_nvswitches;
  std::optional<bool> fabric_manager_runs;
  std::optional<bool> slurmd_runs;
  std::optional<bool> slurmd_blocked;  // in state D
};

class MemoryControllerRule {
 public:
  std::vector<Finding> observe(const MemoryControllerReading& reading, std::int64_t now_s);

  // For a restart, as one word; so in the other rules.
  std::string to_word() const { return uncorrected_.to_word(); }
  void take_word(std::string_view word) { uncorrected_.take_word(word); }

 private:
  MinuteRate storm_{60, 3, 5};
  SlidingGrowth uncorrected_{INT64_MAX / 2};  // for as long as the boot lasts
};

class PcieRule {
 public:
  std::vector<Finding> observe(const PcieReading& reading, std::int64_t now_s);
  std::string to_word() const { return fatal_.to_word(); }
  void take_word(std::string_view word) { fatal_.take_word(word); }

 private:
  MinuteRate correctable_{100, 3, 5};
  SlidingGrowth nonfatal_{3600};
  SlidingGrowth fatal_{INT64_MAX / 2};
};

class GpuCountRule {
 public:
  std::vector<Finding> observe(const GpuCountReading& reading, std::int64_t now_s);
  std::string to_word() const { return std::to_string(most_seen_); }
  void take_word(std::string_view word);

 private:
  int most_seen_ = 0;
  // Of device files alone, and of the bus: what the one has lacked for long proves nothing about
  // the other.
  Persistent lacks_files_{30}, lacks_gpus_{30};
};

// Classes of file systems: one server makes all its clients say the same, and what a mount lacks is
// seldom the node's fault. They drain no node before a Fault line of the site says Mode=on.
bool needs_consent(std::string_view fault_class);

// All of them, each device with its own memory.
class NodeRules {
 public:
  std::vector<Finding> observe(const NodeReadings& readings, std::int64_t now_s);

  // What a restart within the same boot must not forget, as lines of text: what takes hours to see
  // or holds for the boot. Nothing of another boot or of a damaged line is taken over.
  std::string to_text(std::string_view boot_id) const;
  void take_text(std::string_view text, std::string_view boot_id);

 private:
  void take_line(std::string_view line);
  void observe_services(const NodeReadings& readings, std::vector<Finding>& findings);
  void observe_memory(const MemoryReading& reading, std::vector<Finding>& findings);

  std::map<std::string, PortRule> ports_;
  std::map<std::string, MemoryControllerRule> memory_controllers_;
  std::map<std::string, PcieRule> pcie_;
  GpuCountRule gpus_;
  KOfN memory_low_{3, 5}, clock_off_{3, 5}, fabric_manager_gone_{3, 3}, slurmd_gone_{3, 3},
      slurmd_blocked_{6, 6};
  std::map<int, int> stuck_readings_;  // by pid: readings in a row
};

}  // namespace acrf
