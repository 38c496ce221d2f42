// SPDX-License-Identifier: GPL-2.0-or-later
// One InfiniBand or RoCE port over time. Links come back by themselves far more often than not, so
// a port must be down for minutes, or fall again and again, before its node is drained, and jobs
// that run keep running. A port that was never seen active is not in use and says nothing. What
// only one of the two fabrics counts is unknown on the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/node_verdict.h"
#include "core/reading_window.h"

namespace acrf {

struct PortReading {
  std::string name;  // "mlx5_0/1"
  std::optional<bool> active;
  Reading rate_mbps;
  Reading symbol_errors, link_recoveries, link_downs;
  Reading integrity_errors;  // InfiniBand: bursts of errors beyond the link's own limit
  Reading receive_errors;
  Reading ack_timeouts;   // of both fabrics' reliable connections
  Reading icrc_errors;    // RoCE: packets that were damaged on the way, past the cable's own check
  Reading retransmits;    // RoCE: adaptive ones
  Reading slow_restarts;  // RoCE
};

class PortRule {
 public:
  PortRule();

  // What is wrong with the port now.
  std::vector<Finding> observe(const PortReading& reading, std::int64_t now_s);

  // For a restart in the same boot, as words: what it takes hours to see. Nothing of a damaged
  // memory is taken over.
  std::string to_text() const;
  void take_text(std::string_view text);

 private:
  void follow_link(bool active, std::int64_t now_s);
  void judge_outages(const PortReading& reading, std::int64_t now_s,
                     std::vector<Finding>& findings);
  void judge_rates(const PortReading& reading, std::int64_t now_s, std::vector<Finding>& findings);

  bool was_active_ = false;
  std::optional<std::int64_t> down_since_s_;
  std::int64_t dropped_until_s_ = 0;  // a long outage counts for a while after its end
  SlidingSum flaps_{24 * 3600};
  SlidingSum seen_losses_{24 * 3600};        // by the port's state
  SlidingGrowth counted_losses_{24 * 3600};  // by its counter, which sees what polling misses
  SlidingGrowth symbol_errors_{3600};
  SlidingGrowth link_recoveries_{60};
  std::vector<MinuteRate> rates_;
  std::uint64_t best_rate_mbps_ = 0;
  KOfN slow_{3, 5};
};

}  // namespace acrf
