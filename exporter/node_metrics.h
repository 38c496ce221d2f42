// SPDX-License-Identifier: GPL-2.0-or-later
// The metrics of one node's acrf-healthd, read from what it leaves in its StateDir whenever somebody
// asks. Labels are bounded: states, the catalog's classes, sources, actions, results. Thread-safe.
#pragma once

#include <prometheus/collectable.h>

#include <mutex>
#include <string>
#include <vector>

#include "act_counts.h"

namespace acrf {

class NodeMetrics : public prometheus::Collectable {
 public:
  explicit NodeMetrics(std::string state_dir);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::string state_dir_;
  mutable std::mutex mutex_;
  mutable ActCounts acts_;
};

}  // namespace acrf
