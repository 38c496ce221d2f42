// SPDX-License-Identifier: GPL-2.0-or-later
// GET /metrics of the hub. All is taken from the Model when it is asked for, but for what the API
// itself has counted. Labels are bounded: states, the catalog's classes, brakes, actions, results.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "hub/history.h"
#include "hub/http/decision_counts.h"
#include "hub/model.h"

namespace acrf::hub {

class HubMetrics {
 public:
  // `decision_log`: select/acrf's, on slurmctld's host; empty: none.
  explicit HubMetrics(std::string decision_log) : decisions_(std::move(decision_log)) {}

  void note_answer(int status);
  void note_action(std::string_view action, std::string_view result);

  // In Prometheus' text form.
  std::string text(const Model& model, const History& history, std::size_t followers,
                   std::int64_t now_ms);

 private:
  std::mutex mutex_;
  DecisionCounts decisions_;
  std::map<std::string, std::uint64_t> answers_;  // "2xx" -> count
  std::map<std::pair<std::string, std::string>, std::uint64_t> actions_;
};

}  // namespace acrf::hub
