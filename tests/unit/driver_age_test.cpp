// SPDX-License-Identifier: GPL-2.0-or-later
#include "driver_age.h"

#include <gtest/gtest.h>

#include "temporary_directory.h"

namespace acrf {
namespace {

TEST(DriverAge, AChangedDriverIsNewForADayAndThroughRestarts) {
  const TemporaryDirectory directory;
  const auto path = directory.path("driver.state");
  DriverAge first(path);
  first.note("550.90.07", 1000);
  EXPECT_EQ(first.if_new(1001), "") << "who knows for how long it has been there";
  DriverAge second(path);
  second.note("", 2000);
  second.note("570.86.10", 2000);
  second.note("570.86.10", 50'000);
  EXPECT_EQ(second.if_new(2000), "driver-570.86.10");
  const DriverAge third(path);
  EXPECT_EQ(third.if_new(2000 + 86'399), "driver-570.86.10");
  EXPECT_EQ(third.if_new(2000 + 86'400), "");
}

TEST(DriverAge, ADamagedFileIsNoMemory) {
  const TemporaryDirectory directory;
  for (const auto* text : {"", "x", "550 -1\n", "550 1 2\n", "%zz 7\n"}) {
    directory.write("driver.state", text);
    DriverAge age(directory.path("driver.state"));
    age.note("570", 5000);
    EXPECT_EQ(age.if_new(5000), "") << text;
  }
}

}  // namespace
}  // namespace acrf
