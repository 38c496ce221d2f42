// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/duration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace acrf {
namespace {

std::int64_t seconds(std::string_view text) {
  const auto parsed = parse_duration_s(text);
  return parsed ? *parsed : -1;
}

TEST(Duration, EveryFormOfSlurm) {
  EXPECT_EQ(seconds("30"), 30 * 60);
  EXPECT_EQ(seconds("30:05"), 30 * 60 + 5);
  EXPECT_EQ(seconds("2:30:05"), 2 * 3600 + 30 * 60 + 5);
  EXPECT_EQ(seconds("3-2"), 3 * 86'400 + 2 * 3600);
  EXPECT_EQ(seconds("3-2:30"), 3 * 86'400 + 2 * 3600 + 30 * 60);
  EXPECT_EQ(seconds("3-2:30:05"), 3 * 86'400 + 2 * 3600 + 30 * 60 + 5);
}

TEST(Duration, FieldsMayExceedTheirUnitAsInSlurm) {
  EXPECT_EQ(seconds("0:90"), 90);
  EXPECT_EQ(seconds("0:90:00"), 5400);
  EXPECT_EQ(seconds("0-48"), 2 * 86'400);
}

TEST(Duration, SuffixesNameTheUnit) {
  EXPECT_EQ(seconds("90s"), 90);
  EXPECT_EQ(seconds("90m"), 5400);
  EXPECT_EQ(seconds("2h"), 7200);
}

TEST(Duration, ZeroIsADuration) {
  for (const auto zero : {"0", "0s", "0:00", "0-0"}) EXPECT_EQ(seconds(zero), 0) << zero;
}

TEST(Duration, BadOnesAreRefused) {
  for (const auto bad :
       {"",        " ",  "-1",  "+1",    "-",         ":",   "1:",        ":1",      "1::2",
        "1:2:3:4", "1-", "-2",  "1-2-3", "1-2:3:4:5", "1.5", "1 ",        " 1",      "s",
        "1d",      "1S", "1ms", "1:30s", "1-2h",      "x",   "UNLIMITED", "INFINITE"})
    EXPECT_EQ(seconds(bad), -1) << bad;
}

TEST(Duration, NothingOverflows) {
  EXPECT_EQ(seconds("3650-0"), kLongestDuration_s);
  EXPECT_EQ(seconds("315360000s"), kLongestDuration_s);
  for (const auto bad :
       {"3650-0:00:01", "315360001s", "5256001", "9223372036854775807", "18446744073709551615",
        "18446744073709551616", "9223372036854775807h", "106751991167301-0", "307445734561825861"})
    EXPECT_EQ(seconds(bad), -1) << bad;
}

TEST(Duration, TheSentenceHasTheTextAndTheForms) {
  const auto sentence = parse_duration_s("soon").error().sentence;
  EXPECT_THAT(sentence, testing::HasSubstr("'soon'"));
  EXPECT_THAT(sentence, testing::HasSubstr("days-hours:minutes"));
  EXPECT_THAT(sentence, testing::HasSubstr("with s, m or h"));
}

}  // namespace
}  // namespace acrf
