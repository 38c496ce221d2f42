// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/slurmd_watch.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

// slurmctld tells where slurmd is, and may be away for hours.
TEST(SlurmdWatch, BeforeItsPlaceIsKnownNothingIsDue) {
  SlurmdWatch watch("/bin/false", "n1", 10);
  const auto later = SlurmdWatch::Clock::now() + std::chrono::hours(1);
  EXPECT_LT(watch.next_wake(), later);
  EXPECT_EQ(watch.step(later, std::nullopt), std::nullopt);
  EXPECT_GT(watch.next_wake(), later);
}

}  // namespace
}  // namespace acrf
