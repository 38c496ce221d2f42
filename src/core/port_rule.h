// SPDX-License-Identifier: GPL-2.0-or-later
// One InfiniBand or RoCE port over time. Links come back by themselves far more often than not, so
// a port must be down for minutes, or fall again and again, before its node is drained, and jobs
// that run keep running. A port that was never seen active is not in use and says nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/counter_window.h"
#include "core/node_verdict.h"

namespace acrf {

struct PortReading {
  std::string name;  // "mlx5_0/1"
  std::optional<bool> active;
  std::optional<std::uint64_t> symbol_errors, link_recoveries, link_downs;
};

class PortRule {
 public:
  // What is wrong with the port now.
  std::vector<Finding> observe(const PortReading& reading, std::int64_t now_s);

 private:
  void follow_link(bool active, std::int64_t now_s);
  void count(const PortReading& reading, std::int64_t now_s);

  bool was_active_ = false;
  std::optional<std::int64_t> down_since_s_;
  std::int64_t dropped_until_s_ = 0;  // a long outage counts for a while after its end
  CounterWindow flaps_{24 * 3600};
  CounterWindow seen_losses_{24 * 3600};     // by the port's state
  CounterWindow counted_losses_{24 * 3600};  // by its counter, which sees what polling misses
  CounterWindow symbol_errors_{3600};
  CounterWindow link_recoveries_{60};
};

}  // namespace acrf
