// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/job_array.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

TEST(JobArray, CountsTasks) {
  EXPECT_EQ(tasks_in_array(""), 1);
  EXPECT_EQ(tasks_in_array("7"), 1);
  EXPECT_EQ(tasks_in_array("0-9"), 10);
  EXPECT_EQ(tasks_in_array("0-15:4"), 4);
  EXPECT_EQ(tasks_in_array("1,3-5,9%2"), 5);
}

TEST(JobArray, CountsWhatIsNoRangeOnceAndNeverOverflows) {
  EXPECT_EQ(tasks_in_array("5-3"), 1);
  EXPECT_EQ(tasks_in_array("a,b"), 2);
  EXPECT_EQ(tasks_in_array("1-9:0"), 1);
  EXPECT_EQ(tasks_in_array("0-18446744073709551615,0-18446744073709551615"), 10'000'000);
}

}  // namespace
}  // namespace acrf
