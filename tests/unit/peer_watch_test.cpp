// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/peer_watch.h"

#include <gmock/gmock.h>

namespace acrf {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

PeerVerdict look(PeerRecord& record, std::int64_t at_ms, bool healthd,
                 std::optional<bool> slurmd = std::nullopt) {
  return record.note({at_ms, healthd, slurmd});
}

TEST(PeerWatch, ANodeOfWhichNothingAnswersForSomeTimeIsDead) {
  PeerRecord record({}, 0);
  EXPECT_EQ(look(record, 1000, true), PeerVerdict::kAlive);
  EXPECT_EQ(look(record, 3999, false, false), PeerVerdict::kUnknown) << "not silent for long";
  EXPECT_EQ(look(record, 4000, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 4100, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 5100, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 7099, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 7100, false, false), PeerVerdict::kDead);
}

TEST(PeerWatch, ASilentHealthdAloneIsNoDeath) {
  PeerRecord record({}, 0);
  for (int s = 0; s < 1000; s += 2)
    EXPECT_NE(look(record, s * 1000, false, true), PeerVerdict::kDead) << s;
}

TEST(PeerWatch, ASlurmdThatAnswersOnceBeginsTheTimeAnew) {
  PeerRecord record({}, 0);
  for (const int at : {4000, 5000, 6000}) look(record, at, false, false);
  EXPECT_EQ(look(record, 6500, false, true), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 7500, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 8500, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 10500, false, false), PeerVerdict::kDead);
}

TEST(PeerWatch, OneLateLookIsNotEnough) {
  PeerRecord record({}, 0);  // the watcher itself was stopped for a minute
  EXPECT_EQ(look(record, 60'000, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 90'000, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 90'500, true), PeerVerdict::kAlive);
}

TEST(PeerWatch, WhoHearsNobodyIsCutOffItself) {
  const auto dead = PeerVerdict::kDead;
  EXPECT_THAT(judge_peers({dead, dead}), Each(PeerVerdict::kUnknown));
  EXPECT_THAT(judge_peers({dead, PeerVerdict::kUnknown}), Each(PeerVerdict::kUnknown));
  EXPECT_THAT(judge_peers({dead, PeerVerdict::kAlive}), ElementsAre(dead, PeerVerdict::kAlive));
}

TEST(PeerWatch, EachNodeIsWatchedByTheTwoBeforeIt) {
  const std::vector<std::string> table = {"n1", "n2", "n3", "n4"};
  EXPECT_THAT(peers_of(table, "n1", 2), ElementsAre("n2", "n3"));
  EXPECT_THAT(peers_of(table, "n4", 2), ElementsAre("n1", "n2"));
  EXPECT_THAT(peers_of({"n1", "n2"}, "n1", 2), ElementsAre("n2"));
  EXPECT_THAT(peers_of({"n1"}, "n1", 2), IsEmpty());
  EXPECT_THAT(peers_of(table, "x", 2), IsEmpty());
}

TEST(PlanDeadNode, DrainsBeforeItTakesDown) {
  DeadNodeView node;
  EXPECT_EQ(plan_dead_node(node), DeadNodeStep::kDrain);
  node.down = true;  // slurmctld has noticed too: it must not come back by itself
  EXPECT_EQ(plan_dead_node(node), DeadNodeStep::kDrain);
  node.draining = true;
  EXPECT_EQ(plan_dead_node(node), DeadNodeStep::kNothing);
  node.down = false;
  EXPECT_EQ(plan_dead_node(node), DeadNodeStep::kDown);
  node.completing_jobs = 1;
  EXPECT_EQ(plan_dead_node(node), DeadNodeStep::kWait);
  node.drained_for_s = 60;
  EXPECT_EQ(plan_dead_node(node), DeadNodeStep::kDown);
}

TEST(PlanDeadNode, WhatSomebodySwitchedOffIsLeftAlone) {
  DeadNodeView node;
  node.in_service = false;
  EXPECT_EQ(plan_dead_node(node), DeadNodeStep::kNothing);
}

}  // namespace
}  // namespace acrf
