// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/complaint.h"

#include <gtest/gtest.h>

namespace {

TEST(Complaint, IsSaidAtOnceThenOnceAMinuteWithHowOftenItHappened) {
  complaint_t complaint = {};
  const time_t start = 1'700'000'000;
  EXPECT_EQ(complaint_due(&complaint, start), 1);
  for (int i = 0; i < 119; ++i) EXPECT_EQ(complaint_due(&complaint, start + i / 2), 0);
  EXPECT_EQ(complaint_due(&complaint, start + 60), 120);
  EXPECT_EQ(complaint_due(&complaint, start + 61), 0);
  EXPECT_EQ(complaint_due(&complaint, start + 200), 2);
}

TEST(Complaint, IsNotSilencedByAClockThatWasSetBack) {
  complaint_t complaint = {};
  EXPECT_EQ(complaint_due(&complaint, 1'700'000'000), 1);
  EXPECT_EQ(complaint_due(&complaint, 1'600'000'000), 1);
  EXPECT_EQ(complaint_due(&complaint, 1'600'000'001), 0);
}

}  // namespace
