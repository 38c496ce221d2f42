// SPDX-License-Identifier: GPL-2.0-or-later
// How select/acrf decides, counted from its log on slurmctld's host
// (plugins/select_acrf/decisions.h) as it grows: outcomes, and the time that planning took. Without
// a log on this host there is nothing to count.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/metric_text.h"

namespace acrf::hub {

class DecisionCounts {
 public:
  explicit DecisionCounts(std::string path) : path_(std::move(path)) {}

  // Counts what has been added to the log since the last call, some megabytes at most.
  void read_on();

  void add_to(MetricText& text) const;

  // For tests.
  std::uint64_t count(const std::string& outcome) const;

 private:
  static constexpr std::array<double, 7> kBounds_s = {1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10};

  void take(std::string_view line);

  const std::string path_;
  ino_t inode_ = 0;
  off_t place_ = 0;
  std::string rest_;  // an unfinished line
  std::map<std::string, std::uint64_t> outcomes_;
  std::array<std::uint64_t, kBounds_s.size()> up_to_{};
  std::uint64_t count_ = 0;
  double sum_s_ = 0;
};

}  // namespace acrf::hub
