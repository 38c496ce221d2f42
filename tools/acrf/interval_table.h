// SPDX-License-Identifier: GPL-2.0-or-later
// What `auto` is worth: the overhead of the interval that it chooses beside that of fixed ones, by
// job size and cost of a checkpoint. The command and the benchmark print the same table.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/interval.h"

namespace acrf {

inline constexpr std::array<int, 5> kTableGpus = {64, 256, 1024, 4096, 16384};
inline constexpr std::array<int, 6> kTableCosts_s = {5, 10, 30, 60, 120, 300};
inline constexpr std::array<int, 3> kFixedIntervals_s = {300, 1800, 3600};

struct IntervalCell {
  int gpus = 0;
  int cost_s = 0;
  double mtbf_s = 0;
  std::int64_t interval_s = 0;  // what auto gives
  Overhead automatic;
  std::array<Overhead, kFixedIntervals_s.size()> fixed;
};

struct IntervalTable {
  double failures_per_node_day = 0;
  double restart_s = 0;
  std::vector<IntervalCell> cells;
};

IntervalTable make_interval_table(const FailureHistory& history, double restart_s);

// Overhead here is time in checkpoints plus work lost: the two that the interval trades for each
// other. Restarts are added where a name says so.
double traded(const Overhead& overhead);

// True where the fixed interval costs at most 1 % more than auto's.
bool is_as_good(const IntervalCell& cell, std::size_t fixed);

// Auto against one fixed interval. Savings are shares of the fixed interval's overhead.
struct IntervalSaving {
  double average = 0;                 // the fixed interval's overhead, mean of all cells
  double of_averages = 0;             // saving in that mean
  double of_cells = 0;                // mean of the savings in each cell
  double of_averages_restarting = 0;  // as of_averages, restarts included
  int as_good = 0;                    // cells where is_as_good()
};

IntervalSaving saving_against(const IntervalTable& table, std::size_t fixed);
double average_automatic(const IntervalTable& table);

std::string interval_table_text(const IntervalTable& table);
nlohmann::json interval_table_json(const IntervalTable& table);  // one row a cell

}  // namespace acrf
