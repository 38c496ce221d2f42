// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/message_pattern.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

bool fits(std::string_view pattern, std::string_view text) {
  return MessagePattern::parse(pattern)->fits(text);
}

TEST(MessagePattern, FitsTheStartInAnyCase) {
  EXPECT_TRUE(fits("gpu hang", "GPU HANG: ecode 9"));
  EXPECT_FALSE(fits("gpu hang", "a GPU HANG"));
  EXPECT_TRUE(fits("*gpu hang", "a GPU HANG"));
  EXPECT_TRUE(fits("ring * timeout", "ring gfx_0.0.0 timeout, signaled"));
  EXPECT_FALSE(fits("ring * timeout", "ring gfx_0.0.0"));
  EXPECT_TRUE(fits("has$", "has  "));
  EXPECT_FALSE(fits("has$", "has not"));
  EXPECT_TRUE(fits("*a*b$", "xaxaxbxb"));
}

TEST(MessagePattern, NumbersHaveConditions) {
  EXPECT_TRUE(fits("*<n> errors", "die: 1 30 errors"));
  EXPECT_FALSE(fits("*<n=0> errors", "die: 0 30 errors"));
  EXPECT_TRUE(fits("*<n=0> errors", "die: 7 0 errors"));
  EXPECT_TRUE(fits("MC<n>: <n>=100> CE", "MC1: 100 CE"));
  EXPECT_FALSE(fits("MC<n>: <n>=100> CE", "MC1: 99 CE"));
  EXPECT_TRUE(fits("<n%16> x", "48 x"));
  EXPECT_FALSE(fits("<n%16> x", "0 x"));
  EXPECT_FALSE(fits("<n> x", "99999999999999999999999 x"));
  EXPECT_TRUE(fits("GPU <pci>$", "GPU 0000:18:00.0"));
}

TEST(MessagePattern, WhatStandsForNothingIsAnError) {
  for (const auto* pattern : {"", "<x>", "<n", "<n%0>", "<n>=>", "a<n>=b>"})
    EXPECT_FALSE(MessagePattern::parse(pattern)) << pattern;
}

TEST(MessagePattern, LongTextsCostLittle) {
  const std::string text(1'000'000, 'a');
  EXPECT_FALSE(fits("*aaaaaaab*aaaaaaab*aaaaaaab*c", text));
}

}  // namespace
}  // namespace acrf
