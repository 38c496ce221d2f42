// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/brakes.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "unit/fleet_fixture.h"

namespace acrf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Brakes, AFaultOnASoundClusterIsActedOn) {
  const Fleet fleet = fleet_of(100);
  EXPECT_EQ(ask(fleet, "n1"), Permission::kAct);
}

TEST(Brakes, TheHoursBudgetOfAPartitionHolds) {
  Fleet fleet = fleet_of(100);
  acted(fleet, "n1", "gpu_lost", kNow - 3599);
  EXPECT_EQ(ask(fleet, "n3"), Permission::kAct);
  acted(fleet, "n2", "gsp", kNow - 10);
  const auto decision = ask_brakes(Config(), fleet, {"n3", "ecc_uncorrectable"});
  EXPECT_EQ(decision.permission, Permission::kHeld);
  EXPECT_EQ(decision.sentence,
            "2 of 100 nodes of partition train acted on in the last hour, limit 2");
  fleet.now_unix_s += 1;  // the first act is an hour old
  EXPECT_EQ(ask(fleet, "n3"), Permission::kAct);
}

TEST(Brakes, AnActCountsThoughTheNodeIsBackInService) {
  Fleet fleet = fleet_of(100);
  for (const auto* name : {"n1", "n2"}) {
    acted(fleet, name, "gpu_lost", kNow - 1800);
    at(fleet, name).draining = false;
  }
  EXPECT_EQ(ask(fleet, "n3"), Permission::kHeld);
  EXPECT_EQ(ask(fleet, "n1"), Permission::kAct);  // it takes no more room than it has
}

TEST(Brakes, NodesThatStayDrainedUseUpThePartition) {
  Fleet fleet = fleet_of(100);
  for (int i = 1; i <= 5; ++i) acted(fleet, "n" + std::to_string(i), "gpu_lost", kNow - 86'400 * i);
  const auto decision = ask_brakes(Config(), fleet, {"n9", "gpu_lost"});
  EXPECT_EQ(decision.permission, Permission::kHeld);
  EXPECT_EQ(decision.sentence, "5 of 100 nodes of partition train drained by ACRF, limit 5");
  at(fleet, "n1").draining = false;  // a return makes room
  EXPECT_EQ(ask(fleet, "n9"), Permission::kAct);
}

TEST(Brakes, ADrainThatLostItsTokenStillCounts) {
  Fleet fleet = fleet_of(100);
  for (const auto* name : {"n1", "n2"}) {
    acted(fleet, name, "gpu_lost", kNow - 60);
    at(fleet, name).token = {};
  }
  EXPECT_EQ(ask(fleet, "n3"), Permission::kHeld);
}

TEST(Brakes, OnlyGpuNodesCount) {
  Fleet fleet = fleet_of(100);
  for (int i = 3; i <= 100; ++i) at(fleet, "n" + std::to_string(i)).has_gpus = false;
  for (int i = 3; i <= 100; ++i) at(fleet, "n" + std::to_string(i)).down = true;
  EXPECT_EQ(ask(fleet, "n1"), Permission::kAct);
  acted(fleet, "n1", "gpu_lost", kNow - 5);
  EXPECT_EQ(ask(fleet, "n2"), Permission::kHeld);  // one of two: no second
}

TEST(Brakes, SmallGroupsMayLoseAFewNodes) {
  for (const auto& [nodes, allowed] : {std::pair(1, 1), {2, 1}, {3, 2}, {4, 2}, {99, 2}}) {
    Fleet fleet = fleet_of(nodes);
    for (int i = 1; i <= allowed; ++i) {
      ASSERT_EQ(ask(fleet, "n" + std::to_string(i)), Permission::kAct) << nodes;
      acted(fleet, "n" + std::to_string(i), "class" + std::to_string(i), kNow - 5);
    }
    if (nodes > allowed) {
      EXPECT_EQ(ask(fleet, "n" + std::to_string(allowed + 1)), Permission::kHeld) << nodes;
    }
  }
}

TEST(Brakes, NoNodesAndStrangeNodesCrashNothing) {
  EXPECT_EQ(ask(Fleet{}, "n1"), Permission::kHeld);
  EXPECT_FALSE(brake_states(Config(), Fleet{}).empty());
  Fleet fleet = fleet_of(2);
  for (auto& node : fleet.nodes) {
    node.partitions.clear();
    node.has_gpus = false;
  }
  EXPECT_EQ(ask(fleet, "n1"), Permission::kAct);
}

TEST(Brakes, TooManySickNodesOfAnyOwnerStopAll) {
  Fleet fleet = fleet_of(100);
  for (int i = 1; i <= 20; ++i) {
    auto& node = at(fleet, "n" + std::to_string(i));
    (i % 2 ? node.down : node.draining) = true;
    node.reason = "power work";
  }
  const auto decision = ask_brakes(Config(), fleet, {"n50", "gpu_lost"});
  EXPECT_EQ(decision.permission, Permission::kHeld);
  EXPECT_EQ(decision.sentence, "20 of 100 GPU nodes of the cluster out of service, limit 20");
  at(fleet, "n1").down = false;
  EXPECT_EQ(ask(fleet, "n50"), Permission::kAct);
}

TEST(Brakes, TheClusterHasAnAbsoluteCap) {
  Config config;
  config.max_drained_nodes = 3;
  config.max_drained = {50, true};
  Fleet fleet = fleet_of(100);
  for (int i = 1; i <= 3; ++i) acted(fleet, "n" + std::to_string(i), "gpu_lost", kNow - 86'400 * i);
  const auto decision = ask_brakes(config, fleet, {"n9", "gpu_lost"});
  EXPECT_THAT(decision.sentence, HasSubstr("nodes of the cluster drained by ACRF, limit 3"));
  config.max_drained_nodes = 0;
  EXPECT_EQ(ask_brakes(config, fleet, {"n9", "gpu_lost"}).permission, Permission::kAct);
}

TEST(Brakes, EveryPartitionOfANodeHasItsSay) {
  Fleet fleet = fleet_of(100);
  for (int i = 1; i <= 3; ++i) at(fleet, "n" + std::to_string(i)).partitions.push_back("debug");
  Config config;
  config.partitions.push_back({"debug", 1, {}, Share{1, false}, {}});
  acted(fleet, "n1", "gpu_lost", kNow - 60);
  EXPECT_EQ(ask_brakes(config, fleet, {"n9", "gsp"}).permission, Permission::kAct);
  EXPECT_THAT(ask_brakes(config, fleet, {"n2", "gsp"}).sentence,
              HasSubstr("1 of 3 nodes of partition debug acted on in the last hour, limit 1"));
}

TEST(Brakes, OneDrainAnHourBehindASwitchForWhatTheSwitchMayCause) {
  Fleet fleet = fleet_of(100);
  acted(fleet, "n1", "ib_down", kNow - 60);
  EXPECT_EQ(ask(fleet, "n2", "gpu_lost"), Permission::kAct);
  const auto decision = ask_brakes(Config(), fleet, {"n2", "ib_down"});
  EXPECT_EQ(decision.sentence,
            "1 of 10 nodes of switch leaf0 acted on for the fabric, power or a file system in the "
            "last hour, limit 1");
  EXPECT_EQ(ask(fleet, "n11", "ib_down"), Permission::kAct);  // of the next switch
  for (auto& node : fleet.nodes) node.leaf.clear();
  EXPECT_EQ(ask(fleet, "n2", "ib_down"), Permission::kAct);
}

TEST(Brakes, OneClassOnManyNodesIsNotTheNodesFault) {
  Fleet fleet = fleet_of(1000);
  acted(fleet, "n100", "gsp", kNow - 500);
  acted(fleet, "n200", "gsp", kNow - 400);
  EXPECT_EQ(ask(fleet, "n300", "gpu_lost"), Permission::kAct);
  const auto decision = ask_brakes(Config(), fleet, {"n300", "gsp"});
  EXPECT_EQ(decision.permission, Permission::kHeld);
  EXPECT_EQ(decision.brake->brake, Brake::kCommonClass);
  EXPECT_EQ(decision.sentence,
            "3 nodes with gsp within 600 s (n[100,200,300]): one cause that is not theirs");
}

// The freeze outlives its ten minutes while nodes are held by it: they still have the fault.
TEST(Brakes, AFreezeLastsWhileNodesAreHeldByIt) {
  Fleet fleet = fleet_of(1000);
  for (const auto* name : {"n100", "n200", "n300"})
    set_braked(at(fleet, name).token, "gsp", kNow - 5000);
  EXPECT_EQ(ask(fleet, "n300", "gsp"), Permission::kHeld);
  at(fleet, "n200").token.braked.reset();
  EXPECT_EQ(ask(fleet, "n300", "gsp"), Permission::kAct);
}

TEST(Brakes, FaultsFarApartInTimeAreNoCommonCause) {
  Fleet fleet = fleet_of(1000);
  acted(fleet, "n100", "gsp", kNow - 1300);
  acted(fleet, "n200", "gsp", kNow - 650);
  EXPECT_EQ(ask(fleet, "n300", "gsp"), Permission::kAct);
}

TEST(Brakes, OneClassOfFaultsAfterAChangeOfTheDriverIsTheDrivers) {
  Fleet fleet = fleet_of(1000);
  acted(fleet, "n100", "gsp@driver-570.86", kNow - 80'000);
  acted(fleet, "n200", "gsp@driver-570.86", kNow - 20'000);
  const auto decision = ask_brakes(Config(), fleet, {"n300", "gsp@driver-570.86"});
  EXPECT_EQ(decision.permission, Permission::kHeld);
  EXPECT_EQ(decision.brake->brake, Brake::kCommonOrigin);
  EXPECT_EQ(decision.sentence,
            "3 nodes with gsp@driver-570.86 within 86400 s (n[100,200,300]): one cause that is not "
            "theirs");
  EXPECT_EQ(ask(fleet, "n300", "gpu_lost@driver-570.86"), Permission::kAct) << "another fault";
  EXPECT_EQ(ask(fleet, "n300", "gsp@driver-550.90"), Permission::kAct) << "another driver";
  EXPECT_EQ(ask(fleet, "n300", "gsp"), Permission::kAct) << "a driver that has long been there";
  acted(fleet, "n100", "gsp@driver-570.86", kNow - 90'000);
  EXPECT_EQ(ask(fleet, "n300", "gsp@driver-570.86"), Permission::kAct) << "a day later";
}

TEST(Brakes, WhatOneFileSystemDoesToManyNodesIsTheFileSystems) {
  Fleet fleet = fleet_of(1000);
  acted(fleet, "n100", "fs_hung@/scratch", kNow - 300);
  set_braked(at(fleet, "n200").token, "fs_not_mounted@/scratch", kNow - 100);
  const auto decision = ask_brakes(Config(), fleet, {"n300", "fs_read_only@/scratch"});
  EXPECT_EQ(decision.permission, Permission::kHeld);
  EXPECT_EQ(decision.brake->brake, Brake::kCommonOrigin);
  EXPECT_EQ(ask(fleet, "n300", "fs_read_only@/local"), Permission::kAct);
}

TEST(Brakes, TheCauseCountsForItsClassAsWell) {
  Fleet fleet = fleet_of(1000);
  acted(fleet, "n100", "gsp@driver-570.86", kNow - 50);
  acted(fleet, "n200", "gsp", kNow - 40);
  EXPECT_EQ(ask_brakes(Config(), fleet, {"n300", "gsp@driver-1"}).brake->brake,
            Brake::kCommonClass);
  EXPECT_EQ(nodes_to_reset(fleet, {"", "gsp"}).size(), 2u);
}

TEST(Brakes, ManyNodesOfOneSwitchAtOnceAreNotTheNodesFault) {
  Fleet fleet = fleet_of(1000);
  acted(fleet, "n1", "gsp", kNow - 50);
  acted(fleet, "n2", "gpu_lost", kNow - 40);
  const auto decision = ask_brakes(Config(), fleet, {"n3", "ecc_uncorrectable"});
  EXPECT_EQ(decision.brake->brake, Brake::kCommonSwitch);
  EXPECT_THAT(decision.sentence, HasSubstr("3 of 10 nodes of switch leaf0 with faults within"));
  Config config;
  config.common_cause_nodes = 0;
  EXPECT_EQ(ask_brakes(config, fleet, {"n3", "gpu_lost"}).permission, Permission::kAct);
}

TEST(Brakes, ClaimsCountLikeActsAndTheEarlierGoFirst) {
  Fleet fleet = fleet_of(100);
  acted(fleet, "n1", "gpu_lost", kNow - 60);
  set_claim(at(fleet, "n21").token, "gsp", kNow - 1);
  set_claim(at(fleet, "n11").token, "mce", kNow - 1);
  EXPECT_EQ(ask(fleet, "n11", "mce"), Permission::kWait);  // first by name, once n21 is gone
  EXPECT_EQ(ask(fleet, "n21", "gsp"), Permission::kYield);
  EXPECT_EQ(ask(fleet, "n31", "panic"), Permission::kYield);  // need not even claim
  clear_wish(at(fleet, "n21").token);
  EXPECT_EQ(ask(fleet, "n11", "mce"), Permission::kAct);
}

// A quarter of a switch, and at least two: cooling or power.
TEST(Brakes, NothingIsDrainedForHeatThatASwitchShares) {
  Fleet fleet = fleet_of(100);  // ten to a switch
  const auto ask_about = [&](const char* fault_class) {
    return ask_brakes(Config(), fleet, {"n1", fault_class});
  };
  at(fleet, "n2").token.hot_unix_s = kNow - 60;
  at(fleet, "n11").token.hot_unix_s = kNow - 60;  // of another switch
  EXPECT_EQ(ask_about("temperature_limit_lasting").permission, Permission::kAct);
  at(fleet, "n3").token.hot_unix_s = kNow - 60;
  for (const auto* fault_class : {"temperature_limit_lasting", "hw_slowdown_lasting"}) {
    const auto held = ask_about(fault_class);
    EXPECT_EQ(held.permission, Permission::kHeld) << fault_class;
    ASSERT_TRUE(held.brake);
    EXPECT_EQ(held.brake->brake, Brake::kSwitchHeat);
    EXPECT_EQ(
        held.sentence,
        "3 of 10 nodes of switch leaf0 too hot at once (n[1-3]): cooling or power, not theirs");
  }
  EXPECT_EQ(ask_about("gpu_lost").permission, Permission::kAct) << "heat excuses nothing else";
  const auto states = brake_states(Config(), fleet);
  EXPECT_EQ(std::count_if(states.begin(), states.end(),
                          [](const auto& state) { return state.brake == Brake::kSwitchHeat; }),
            2);
  fleet.now_unix_s += kHotLives_s;  // left behind by daemons that died
  EXPECT_EQ(ask_about("temperature_limit_lasting").permission, Permission::kAct);
}

TEST(Brakes, SharedHeatCanBeSetAndTurnedOff) {
  Fleet fleet = fleet_of(10);
  Config config;
  for (const auto* name : {"n2", "n3"}) at(fleet, name).token.hot_unix_s = kNow;
  const auto& node = at(fleet, "n1");
  EXPECT_TRUE(shared_heat(config, fleet, node));
  config.shared_heat = {4, false};
  EXPECT_FALSE(shared_heat(config, fleet, node));
  config.shared_heat = {50, true};
  EXPECT_FALSE(shared_heat(config, fleet, node));
  config.shared_heat = {0, true};
  EXPECT_FALSE(shared_heat(config, fleet, node));
}

// Two neighbours accuse one silent node: one of them is enough, and neither ends the other's claim.
TEST(Brakes, OnlyWhoWroteAClaimTakesItBack) {
  Fleet fleet = fleet_of(100);
  auto& token = at(fleet, "n11").token;
  set_claim(token, "node_lost", kNow - 1, "n12");
  const auto ask_as = [&](const char* speaker) {
    return ask_brakes(Config(), fleet, {"n11", "node_lost", speaker}).permission;
  };
  EXPECT_EQ(ask_as("n12"), Permission::kAct);
  EXPECT_EQ(ask_as("n13"), Permission::kYield);
  EXPECT_EQ(ask_as(""), Permission::kYield);
  withdraw_claim(token, "n13");
  set_braked(token, "node_lost", kNow, "n13");
  clear_wish(token, "");
  EXPECT_TRUE(is_claimed_by(token, "n12"));
  fleet.now_unix_s += kClaimLives_s;  // n12 has died
  EXPECT_EQ(ask_as("n13"), Permission::kAct);
  fleet.now_unix_s -= kClaimLives_s;
  withdraw_claim(token, "n12");
  EXPECT_EQ(ask_as("n13"), Permission::kAct);
}

TEST(Brakes, AClaimThatNobodyUsesIsForgotten) {
  Fleet fleet = fleet_of(100);
  acted(fleet, "n1", "gpu_lost", kNow - 60);
  set_claim(at(fleet, "n11").token, "gsp", kNow - kClaimLives_s + 1);
  EXPECT_EQ(ask(fleet, "n21", "mce"), Permission::kYield);
  fleet.now_unix_s += 1;
  EXPECT_EQ(ask(fleet, "n21", "mce"), Permission::kAct);
}

TEST(Brakes, AResetMakesRoomAndTheFloorStays) {
  Fleet fleet = fleet_of(100);
  acted(fleet, "n1", "gpu_lost", kNow - 60);
  acted(fleet, "n2", "gsp", kNow - 60);
  at(fleet, "n2").partitions = {"debug"};
  set_braked(at(fleet, "n3").token, "gpu_lost", kNow - 5);
  EXPECT_THAT(nodes_to_reset(fleet, {}), ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(nodes_to_reset(fleet, {"debug", ""}), ElementsAre("n2"));
  EXPECT_THAT(nodes_to_reset(fleet, {"", "gpu_lost"}), ElementsAre("n1", "n3"));
  for (auto& node : fleet.nodes) reset_marks(node.token, kNow);
  EXPECT_THAT(nodes_to_reset(fleet, {}), IsEmpty());
  EXPECT_EQ(ask(fleet, "n3"), Permission::kAct);
  for (int i = 1; i <= 20; ++i) at(fleet, "n" + std::to_string(i)).down = true;
  EXPECT_EQ(ask(fleet, "n30"), Permission::kHeld);
  acted(fleet, "n1", "gpu_lost", kNow);  // acted on again: counted again
  EXPECT_THAT(nodes_to_reset(fleet, {}), ElementsAre("n1"));
}

TEST(Brakes, PeopleSeeEveryBrake) {
  Fleet fleet = fleet_of(100);
  acted(fleet, "n1", "ib_down", kNow - 60);
  std::vector<std::string> shown;
  for (const auto& state : brake_states(Config(), fleet))
    shown.push_back(std::string(name_of(state.brake)) + " " + state.group + " " +
                    std::to_string(state.counted()) + "/" + std::to_string(state.limit));
  EXPECT_THAT(shown, ElementsAre("partition-hour train 1/2", "partition-drained train 1/5",
                                 "cluster-drained  1/100", "floor  1/20", "switch-hour leaf0 1/1",
                                 "common-class ib_down 1/2", "common-switch leaf0 1/2"));
}

}  // namespace
}  // namespace acrf
