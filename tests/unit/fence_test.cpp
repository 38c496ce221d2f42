// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/fence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace acrf {
namespace {

TEST(Fence, IsReadAndWritten) {
  const auto fence = parse_fence("123.4");
  ASSERT_TRUE(fence.ok());
  EXPECT_EQ(*fence, (Fence{123, 4}));
  EXPECT_EQ(to_text(*fence), "123.4");
  EXPECT_EQ(*parse_fence("123.4.5"), (Fence{123, 4, 5}));
  EXPECT_EQ(to_text(Fence{123, 4, 5}), "123.4.5");
  for (const auto text : {"", "123", "123.4.", "123.4.x", "123.4.5.6", "123.", ".4", "0.1",
                          "123.4 ", "1.99999999999", "a.b", "1.-1"})
    EXPECT_FALSE(parse_fence(text).ok()) << text;
}

TEST(Fence, OnlyALaterRestartOfTheSameJobShutsOut) {
  const std::vector<Fence> fences = {{7, 2}, {8, 9}};
  EXPECT_TRUE(check_fence(fences, {7, 2}).ok());
  EXPECT_TRUE(check_fence(fences, {7, 3}).ok());
  EXPECT_TRUE(check_fence(fences, {9, 0}).ok());
  const auto shut = check_fence(fences, {7, 1});
  ASSERT_FALSE(shut.ok());
  EXPECT_EQ(shut.error().code, ErrorCode::kDenied);
  EXPECT_THAT(shut.error().sentence, testing::HasSubstr("restart 2; this is restart 1"));
}

TEST(Fence, AStepStartedAnewShutsOutTheOneBeforeIt) {
  const std::vector<Fence> fences = {{7, 2, 1}};
  EXPECT_FALSE(check_fence(fences, {7, 2}).ok());
  EXPECT_FALSE(check_fence(fences, {7, 1, 9}).ok());
  EXPECT_TRUE(check_fence(fences, {7, 2, 1}).ok());
  EXPECT_TRUE(check_fence(fences, {7, 3}).ok());
}

TEST(Fence, NeverGoesDown) {
  std::vector<Fence> fences;
  EXPECT_TRUE(raise_fence(fences, {7, 2}));
  EXPECT_FALSE(raise_fence(fences, {7, 2}));
  EXPECT_FALSE(raise_fence(fences, {7, 1}));
  EXPECT_TRUE(raise_fence(fences, {7, 3}));
  EXPECT_EQ(fences, (std::vector<Fence>{{7, 3}}));
}

TEST(Fence, TheJobsRaisedLastAreKept) {
  std::vector<Fence> fences;
  for (unsigned job = 1; job <= 40; ++job) raise_fence(fences, {job, 1});
  fences = parse_fences(format_fences(fences) + "junk\n\n40.2");
  ASSERT_EQ(fences.size(), 32u);
  EXPECT_EQ(fences.front(), (Fence{9, 1}));
  EXPECT_EQ(fences.back(), (Fence{40, 2}));
}

}  // namespace
}  // namespace acrf
