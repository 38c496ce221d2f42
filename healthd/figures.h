// SPDX-License-Identifier: GPL-2.0-or-later
// What acrf-healthd counts since it began. It stands in the verdict's file, where acrf-exporter
// reads it: the daemon itself serves nobody. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/report_items.h"
#include "sources/answer_times.h"

namespace acrf {

class Figures {
 public:
  explicit Figures(std::int64_t started_unix_ms) : started_ms_(started_unix_ms) {}

  void note_incident(const std::string& fault_class);

  // One JSON object. `sources`: the GPUs' libraries and how they answer.
  std::string to_json(const NodeNow& now,
                      const std::vector<std::pair<std::string, AnswerTimes>>& sources,
                      std::uint64_t lost_records) const;

 private:
  std::int64_t started_ms_;
  std::map<std::string, std::uint64_t> incidents_;  // by class
};

}  // namespace acrf
