// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/failover.h"

#include <gmock/gmock.h>

#include "core/rank_order.h"

namespace acrf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Two leaves of four nodes: positions 0 to 3 and 4 to 7.
Topology two_leaves() {
  return *Topology::parse(
      "SwitchName=l1 Nodes=n[1-4]\nSwitchName=l2 Nodes=n[5-8]\nSwitchName=top Switches=l[1-2]\n",
      "topology.conf", {"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"});
}

TEST(PlanStep, TheFirstStepTakesTheNodesThatAreClosest) {
  FailoverState state;
  state.wanted = 3;
  state.lost = {0, 1};  // two left on the first leaf, four on the second
  const auto nodes = plan_step(two_leaves(), state);
  ASSERT_TRUE(nodes);
  EXPECT_EQ(nodes->size(), 3U);
  for (const int position : *nodes) EXPECT_GE(position, 4);
}

TEST(PlanStep, NothingChangesWhileNothingIsLost) {
  FailoverState state;
  state.wanted = 2;
  state.running = {5, 4};
  state.lost = {7};
  EXPECT_EQ(plan_step(two_leaves(), state), state.running);
}

TEST(PlanStep, ALostNodeIsReplacedByTheNearestSpareAndTheOthersStay) {
  FailoverState state;
  state.wanted = 3;
  state.running = {4, 5, 6};
  state.lost = {5};
  const auto nodes = plan_step(two_leaves(), state);
  ASSERT_TRUE(nodes);
  EXPECT_THAT(*nodes, UnorderedElementsAre(4, 6, 7));
}

TEST(PlanStep, ALostSpareIsNotTaken) {
  FailoverState state;
  state.wanted = 3;
  state.running = {4, 5, 6};
  state.lost = {5, 7};
  const auto nodes = plan_step(two_leaves(), state);
  ASSERT_TRUE(nodes);
  EXPECT_THAT(*nodes, testing::Not(testing::Contains(7)));
  EXPECT_EQ(nodes->size(), 3U);
}

TEST(PlanStep, WithoutSparesAnElasticJobShrinksAndAnotherGivesUp) {
  const auto topology = Topology::flat(3);
  FailoverState state;
  state.wanted = 3;
  state.least = 3;
  state.running = {0, 1, 2};
  state.lost = {1};
  EXPECT_FALSE(plan_step(topology, state));
  state.least = 2;
  ASSERT_TRUE(plan_step(topology, state));
  EXPECT_THAT(*plan_step(topology, state), ElementsAre(0, 2));
  state.lost = {1, 0};
  EXPECT_FALSE(plan_step(topology, state));
}

TEST(PlanStep, CountsWhatCanBeLost) {
  FailoverState state;
  state.wanted = 3;
  state.least = 3;
  EXPECT_EQ(losses_left(5, state), 2);
  state.lost = {0, 1};
  EXPECT_EQ(losses_left(5, state), 0);
  state.least = 1;
  EXPECT_EQ(losses_left(5, state), 2);
  state.lost = {0, 1, 2, 3, 4};
  EXPECT_EQ(losses_left(5, state), 0);
  EXPECT_FALSE(plan_step(Topology::flat(5), state));
}

TEST(LauncherWord, StandsBesideOtherWordsAndComesBackAsItWas) {
  const LauncherWord word{2, {"n3", "n4", "n9"}};
  const auto comment = with_launcher("my run", word);
  EXPECT_EQ(comment, "my run acrf-run:can-lose=2,without=n[3-4,9]");
  EXPECT_EQ(find_launcher(comment), word);
  EXPECT_EQ(with_launcher(comment, LauncherWord{1, {}}), "my run acrf-run:can-lose=1");
  EXPECT_EQ(with_launcher(comment, std::nullopt), "my run");
  EXPECT_EQ(find_launcher("my run"), std::nullopt);
}

TEST(LauncherWord, ADamagedOneIsNone) {
  for (const auto bad : {"acrf-run:", "acrf-run:can-lose=", "acrf-run:can-lose=x",
                         "acrf-run:can-lose=1,without=n[", "acrf-run:can-lose=1;without=n1"})
    EXPECT_EQ(find_launcher(bad), std::nullopt) << bad;
}

TEST(LostNodes, AreThoseThatTheWordNames) {
  EXPECT_THAT(find_lost_nodes("acrf:policy=failover acrf-lost:n[3-4]"), ElementsAre("n3", "n4"));
  EXPECT_THAT(find_lost_nodes("acrf:policy=failover"), IsEmpty());
  EXPECT_THAT(find_lost_nodes("acrf-lost:n["), IsEmpty());
}

}  // namespace
}  // namespace acrf
