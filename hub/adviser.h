// SPDX-License-Identifier: GPL-2.0-or-later
// Looks at the whole history by the cluster's rules (core/cluster_rules.h) once a minute, in a
// thread of its own, and lays what they advise ready for the nodes' next reports.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "core/cluster_rules.h"
#include "core/config.h"
#include "hub/history.h"
#include "hub/model.h"

namespace acrf::hub {

class Adviser {
 public:
  // All outlive this.
  Adviser(Model& model, const History& history, const Config& config,
          std::chrono::milliseconds pause = std::chrono::minutes(1));
  ~Adviser();

 private:
  void run();
  void look();

  Model& model_;
  const History& history_;
  const Config& config_;
  const std::chrono::milliseconds pause_;
  std::set<std::pair<std::string, std::string>> given_;  // node, kind
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

// An incident of the history as the rules want it; nothing for one that cannot be read.
std::optional<FleetFault> fault_of(const std::string& incident_json);

}  // namespace acrf::hub
