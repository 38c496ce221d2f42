// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/node_health.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

TEST(NodeHealth, IsOneWordAmongOthers) {
  const NodeHealth health{0b101000, true, 20};
  const auto comment = with_node_health("rack 7  owned by ops", health);
  EXPECT_EQ(comment, "rack 7 owned by ops acrf:gpus=3+5,suspect,risk=20");
  EXPECT_EQ(find_node_health(comment), health);
  EXPECT_EQ(with_node_health(comment, {1, false, 0}), "rack 7 owned by ops acrf:gpus=0");
  EXPECT_EQ(with_node_health(comment, {}), "rack 7 owned by ops");
}

TEST(NodeHealth, WhatIsMalformedIsUnknown) {
  for (const auto* bad : {"", "acrf", "acrf:", "acrf:gpus=", "acrf:gpus=64", "acrf:gpus=1,2",
                          "acrf:risk=101", "acrf:risk=-1", "acrf:sick", "xacrf:suspect"})
    EXPECT_FALSE(find_node_health(bad)) << bad;
}

}  // namespace
}  // namespace acrf
