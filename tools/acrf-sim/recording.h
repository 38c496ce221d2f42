// SPDX-License-Identifier: GPL-2.0-or-later
// A run as JSON lines: what kind of cluster it was, then each job and each fault with its time. A
// replay does the same again at the same times.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "plan.h"

namespace acrf::sim {

// Each node is some processes and two ports of this machine.
constexpr int kMostNodes = 1000;
constexpr int kMostGpus = 16;

struct RecordedCluster {
  int nodes = 8;
  int gpus = 8;
  std::uint64_t seed = 0;
};

std::string to_line(const RecordedCluster& cluster);
std::string to_line(const PlannedEvent& event);

struct Recording {
  RecordedCluster cluster;
  std::vector<PlannedEvent> events;  // by time
};

// An Error opens with "origin:line:".
Result<Recording> parse_recording(std::string_view text, const std::string& origin);

class Replay : public Script {
 public:
  explicit Replay(std::vector<PlannedEvent> events) : events_(std::move(events)) {}
  std::vector<PlannedEvent> until(std::int64_t ms) override;
  // All of it was given.
  bool is_done() const { return given_ == events_.size(); }

 private:
  std::vector<PlannedEvent> events_;
  std::size_t given_ = 0;
};

}  // namespace acrf::sim
