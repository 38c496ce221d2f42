// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/acrf/interval_table.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace acrf {
namespace {

TEST(IntervalTable, NoFixedIntervalBeatsAutoByMoreThanTheFormulasError) {
  for (const auto& history : {FailureHistory{}, {5000, 100'000}, {10, 100'000}})
    for (const auto& cell : make_interval_table(history, 300).cells)
      for (const auto& fixed : cell.fixed)
        EXPECT_GE(traded(fixed), 0.999 * traded(cell.automatic)) << cell.gpus << ' ' << cell.cost_s;
}

TEST(IntervalTable, SavesAnEighthOfEveryFixedIntervalsOverhead) {
  const auto table = make_interval_table({}, 300);
  for (std::size_t i = 0; i < kFixedIntervals_s.size(); ++i) {
    const auto saving = saving_against(table, i);
    EXPECT_GE(saving.of_averages, 0.125) << kFixedIntervals_s[i];
    EXPECT_GE(saving.of_cells, 0.125) << kFixedIntervals_s[i];
    EXPECT_GE(saving.of_averages_restarting, 0.125) << kFixedIntervals_s[i];
  }
}

TEST(IntervalTable, SaysWhereAFixedIntervalIsRight) {
  const auto table = make_interval_table({}, 300);
  int marked = 0;
  for (std::size_t i = 0; i < kFixedIntervals_s.size(); ++i)
    marked += saving_against(table, i).as_good;
  const auto text = interval_table_text(table);
  EXPECT_GT(marked, 0);
  // Once in each such cell, and once in the legend.
  EXPECT_EQ(std::count(text.begin(), text.end(), '='), marked + 1);
}

TEST(IntervalTable, RestartsAddToTheTotalAndToNothingElse) {
  const auto quick = make_interval_table({}, 0), slow = make_interval_table({}, 1200);
  for (std::size_t i = 0; i < quick.cells.size(); ++i) {
    EXPECT_EQ(traded(quick.cells[i].automatic), traded(slow.cells[i].automatic));
    EXPECT_LT(quick.cells[i].automatic.total(), slow.cells[i].automatic.total());
    EXPECT_EQ(quick.cells[i].interval_s, slow.cells[i].interval_s);
  }
}

TEST(IntervalTable, JsonHasOneRowPerCell) {
  const auto table = make_interval_table({}, 300);
  const auto rows = interval_table_json(table);
  ASSERT_EQ(rows.size(), kTableGpus.size() * kTableCosts_s.size());
  EXPECT_EQ(rows[0]["fixed_1800"], traded(table.cells[0].fixed[1]));
}

}  // namespace
}  // namespace acrf
