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

TEST(NodeHealth, MarksTravelWithIt) {
  NodeToken token;
  token.health.probation = true;
  token.claim = HealthMark{1'700'000'000, "gpu_lost", "n 7"};
  token.acted = HealthMark{1'700'000'001, "check_My-Test"};
  token.braked = HealthMark{1'700'000'002, "odd class,x"};
  token.left = {17, 4294967295};
  token.hot_unix_s = 1'700'000'004;
  token.waived_unix_s = 1'700'000'003;
  const auto comment = with_node_token("rack 7", token);
  EXPECT_EQ(
      comment,
      "rack 7 acrf:probation,claim=1700000000:gpu_lost:n%207,acted=1700000001:check_My-Test,"
      "braked=1700000002:odd%20class%2cx,left=17+4294967295,hot=1700000004,waived=1700000003");
  EXPECT_EQ(node_token_in(comment), token);
  EXPECT_EQ(find_node_health(comment), token.health);
  // Who changes the health alone leaves the rest.
  const auto changed = with_node_health(comment, {1, false, 0, false});
  EXPECT_EQ(node_token_in(changed).acted, token.acted);
  EXPECT_EQ(find_node_health(changed)->quarantined, 1u);
}

TEST(NodeHealth, JobsThatLeftAreNamedOnceAndTheLastOnesKept) {
  NodeToken token;
  for (std::uint32_t job = 1; job <= 100; ++job) add_left(token, job);
  add_left(token, 100);
  EXPECT_EQ(token.left.size(), 32u);
  EXPECT_EQ(token.left.front(), 69u);
  EXPECT_EQ(token.left.back(), 100u);
}

TEST(NodeHealth, FieldsOfANewerVersionAreKept) {
  const std::string comment = "acrf:gpus=3,colour=blue,sealed,risk=5";
  EXPECT_EQ(find_node_health(comment), (NodeHealth{8, false, 5, false}));
  EXPECT_EQ(with_node_health(comment, {1, false, 0, false}), "acrf:gpus=0,colour=blue,sealed");
  EXPECT_EQ(with_node_token("acrf:sealed", node_token_in("acrf:sealed")), "acrf:sealed");
}

TEST(NodeHealth, AMalformedMarkMakesTheTokenUnknown) {
  for (const auto* bad :
       {"acrf:gpus=1,claim=", "acrf:gpus=1,claim=x:gsp", "acrf:gpus=1,acted=5",
        "acrf:gpus=1,acted=5:", "acrf:braked=-1:gsp",
        "acrf:waived=", "acrf:gpus=1,left=", "acrf:gpus=1,hot=x", "acrf:gpus=1,left=0",
        "acrf:left=4294967296", "acrf:gpus=1,claim=5:gsp:n1:n2", "acrf:gpus=1,claim=5:gsp:%zz",
        "acrf:gpus=1,acted=5:%zz", "acrf:gpus=1,=5", "acrf:gpus=1,,risk=3"})
    EXPECT_FALSE(find_node_health(bad)) << bad;
}

}  // namespace
}  // namespace acrf
