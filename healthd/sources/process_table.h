// SPDX-License-Identifier: GPL-2.0-or-later
// The node's processes, as far as checks want them. A node has thousands, most of them the kernel's
// own, and to read about one costs as much as a sensor: each is read when it is new and once a
// minute, and again before anything is held against it. Even their list is read only when the
// kernel's count of tasks or its last process id is another than before, and no more often than
// every five seconds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/node_rules.h"

namespace acrf {

class ProcessTable {
 public:
  // `root` stands before /proc; empty: the real one.
  explicit ProcessTable(const std::string& root) : proc_(root + "/proc") {}

  // Services, and processes that hold a GPU although their job has ended; nothing when /proc cannot
  // be read.
  void read(std::int64_t now_s, NodeReadings& readings);

 private:
  struct Process {
    std::string name;
    char state = '?';
    std::optional<std::uint64_t> job;     // by its control group
    std::optional<std::uint64_t> serves;  // a step daemon: the job whose step it is
    std::int64_t read_s = 0;
  };

  std::string directory_of(int pid) const { return proc_ + "/" + std::to_string(pid); }
  std::optional<Process> read_process(int pid) const;
  bool holds_gpu(int pid) const;
  bool has_changed(std::int64_t now_s);
  void list(std::int64_t now_s);
  void update(std::int64_t now_s);
  void refresh(int pid, Process& process) const;
  std::set<std::uint64_t> running_jobs() const;
  void find_services(NodeReadings& readings);
  void find_stuck(NodeReadings& readings);

  std::string proc_;
  std::map<int, Process> known_;
  std::string tasks_;  // the count and the last id at the last look
  std::int64_t listed_s_ = 0;
  bool kernel_counts_ = false;  // it tells them
  bool had_slurmd_ = false, lost_slurmd_ = false;
};

}  // namespace acrf
