// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/gres_text.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

TEST(GresText, CountsGpusOfAllTypes) {
  EXPECT_EQ(gpus_in_gres("gpu:h100:8(S:0-1)"), 8);
  EXPECT_EQ(gpus_in_gres("gpu:4"), 4);
  EXPECT_EQ(gpus_in_gres("nic:2,gpu:a100:2(S:0),gpu:v100:1,shard:16(S:0-1)"), 3);
  EXPECT_EQ(gpus_in_gres(""), 0);
  EXPECT_EQ(gpus_in_gres("gpu:h100:99999999999999999999"), 0);
  EXPECT_EQ(gpus_in_gres("gpu:h100:1000"), 64);
}

TEST(GresText, ReadsWhichGpusJobsHave) {
  EXPECT_EQ(gpus_used_in_gres("gpu:h100:3(IDX:0-1,7)"), 0b10000011u);
  EXPECT_EQ(gpus_used_in_gres("gpu:a100:1(IDX:2),gpu:v100:1(IDX:4),shard:0"), 0b10100u);
  EXPECT_EQ(gpus_used_in_gres("gpu:h100:0(IDX:N/A)"), 0u);
  EXPECT_EQ(gpus_used_in_gres("gpu:h100:0"), 0u);
  EXPECT_EQ(gpus_used_in_gres("shard:2(IDX:0-1)"), 0u);
  EXPECT_EQ(gpus_used_in_gres("gpu:h100:3(IDX:62-70"), 3ull << 62);
}

}  // namespace
}  // namespace acrf
