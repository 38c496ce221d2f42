// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/checkpoint_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace acrf {
namespace {

TEST(CheckpointFormat, EveryNameIsReadBackAsItself) {
  for (const auto name :
       {"auto", "manifest", "torch-dcp", "deepspeed", "megatron", "hf", "lightning"}) {
    const auto format = parse_checkpoint_format(name);
    ASSERT_TRUE(format.ok()) << name;
    EXPECT_EQ(name_of(*format), name);
  }
}

TEST(CheckpointFormat, OtherNamesAreRefusedWithTheKnownOnes) {
  for (const auto name : {"", "HF", "torch", "manifest "}) {
    const auto format = parse_checkpoint_format(name);
    ASSERT_FALSE(format.ok()) << name;
    EXPECT_THAT(format.error().sentence, testing::HasSubstr("manifest, torch-dcp, deepspeed"));
  }
}

}  // namespace
}  // namespace acrf
