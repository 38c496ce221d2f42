// SPDX-License-Identifier: GPL-2.0-or-later
#include "interval_table.h"

#include <fmt/format.h>

namespace acrf {
namespace {

template <typename Value>
double mean(const IntervalTable& table, Value value) {
  double sum = 0;
  for (const auto& cell : table.cells) sum += value(cell);
  return sum / static_cast<double>(table.cells.size());
}

std::string row_text(const IntervalCell& cell) {
  auto text = fmt::format("{:>7} {:>9.1f} {:>7} {:>8} {:>10.2f}%", cell.gpus, cell.mtbf_s / 3600,
                          cell.cost_s, cell.interval_s, 100 * traded(cell.automatic));
  for (std::size_t i = 0; i < cell.fixed.size(); ++i)
    text +=
        fmt::format(" {:>9.2f}%{}", 100 * traded(cell.fixed[i]), is_as_good(cell, i) ? '=' : ' ');
  return text + '\n';
}

template <typename Value>
std::string saving_row(const IntervalTable& table, const char* name, Value value) {
  auto text = fmt::format("{:<46}", name);
  for (std::size_t i = 0; i < kFixedIntervals_s.size(); ++i)
    text += fmt::format(" {:>9.2f}% ", 100 * value(saving_against(table, i)));
  return text + '\n';
}

std::string as_good_text(const IntervalTable& table) {
  std::string text = "=: at most 1 % above auto's overhead, so nothing is gained there.";
  for (std::size_t i = 0; i < kFixedIntervals_s.size(); ++i) {
    text += fmt::format("\n   {} s: ", kFixedIntervals_s[i]);
    std::string cells;
    for (const auto& cell : table.cells)
      if (is_as_good(cell, i))
        cells +=
            fmt::format("{}{} GPUs at {} s", cells.empty() ? "" : ", ", cell.gpus, cell.cost_s);
    text += cells.empty() ? "nowhere" : cells;
  }
  return text + '\n';
}

}  // namespace

IntervalTable make_interval_table(const FailureHistory& history, double restart_s) {
  IntervalTable table{failures_per_node_day(history), restart_s, {}};
  for (const int gpus : kTableGpus)
    for (const int cost_s : kTableCosts_s) {
      IntervalCell cell;
      cell.gpus = gpus;
      cell.cost_s = cost_s;
      cell.mtbf_s = job_mtbf_s(nodes_for_gpus(gpus), table.failures_per_node_day);
      cell.interval_s = auto_interval_s(nodes_for_gpus(gpus), history, cost_s);
      const auto cost_of = [&](auto interval_s) {
        return split_overhead(static_cast<double>(interval_s), cost_s, cell.mtbf_s, restart_s);
      };
      cell.automatic = cost_of(cell.interval_s);
      for (std::size_t i = 0; i < cell.fixed.size(); ++i)
        cell.fixed[i] = cost_of(kFixedIntervals_s[i]);
      table.cells.push_back(cell);
    }
  return table;
}

double traded(const Overhead& overhead) { return overhead.checkpoints + overhead.lost; }

bool is_as_good(const IntervalCell& cell, std::size_t fixed) {
  return traded(cell.fixed[fixed]) <= 1.01 * traded(cell.automatic);
}

double average_automatic(const IntervalTable& table) {
  return mean(table, [](const IntervalCell& cell) { return traded(cell.automatic); });
}

IntervalSaving saving_against(const IntervalTable& table, std::size_t fixed) {
  IntervalSaving saving;
  saving.average = mean(table, [&](const auto& cell) { return traded(cell.fixed[fixed]); });
  saving.of_averages = 1 - average_automatic(table) / saving.average;
  saving.of_cells = mean(table, [&](const auto& cell) {
    return 1 - traded(cell.automatic) / traded(cell.fixed[fixed]);
  });
  saving.of_averages_restarting =
      1 - mean(table, [](const auto& cell) { return cell.automatic.total(); }) /
              mean(table, [&](const auto& cell) { return cell.fixed[fixed].total(); });
  for (const auto& cell : table.cells) saving.as_good += is_as_good(cell, fixed);
  return saving;
}

std::string interval_table_text(const IntervalTable& table) {
  auto text = fmt::format(
      "Time in checkpoints plus work lost, in percent of the work; {:.2f} failures per 1,000 "
      "node-days.\n{:>7} {:>9} {:>7} {:>8} {:>11} {:>10}  {:>10}  {:>10}\n",
      1000 * table.failures_per_node_day, "GPUs", "MTBF h", "cost s", "auto s", "auto",
      fmt::format("{} s", kFixedIntervals_s[0]), fmt::format("{} s", kFixedIntervals_s[1]),
      fmt::format("{} s", kFixedIntervals_s[2]));
  for (const auto& cell : table.cells) text += row_text(cell);
  text += fmt::format("{:<34} {:>10.2f}%", "average", 100 * average_automatic(table));
  text += saving_row(table, "", [](const auto& saving) { return saving.average; }).substr(46);
  text += saving_row(table, "auto's average is less by",
                     [](const auto& saving) { return saving.of_averages; });
  text += saving_row(table, "the same per cell, then averaged",
                     [](const auto& saving) { return saving.of_cells; });
  text += saving_row(
      table, fmt::format("averages with restarts of {:g} s: less by", table.restart_s).c_str(),
      [](const auto& saving) { return saving.of_averages_restarting; });
  return text + as_good_text(table);
}

nlohmann::json interval_table_json(const IntervalTable& table) {
  auto rows = nlohmann::json::array();
  for (const auto& cell : table.cells) {
    nlohmann::json row = {{"gpus", cell.gpus},
                          {"cost_s", cell.cost_s},
                          {"mtbf_s", cell.mtbf_s},
                          {"restart_s", table.restart_s},
                          {"auto_s", cell.interval_s},
                          {"auto", traded(cell.automatic)},
                          {"auto_with_restarts", cell.automatic.total()}};
    for (std::size_t i = 0; i < cell.fixed.size(); ++i) {
      const auto name = fmt::format("fixed_{}", kFixedIntervals_s[i]);
      row[name] = traded(cell.fixed[i]);
      row[name + "_with_restarts"] = cell.fixed[i].total();
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace acrf
