// SPDX-License-Identifier: GPL-2.0-or-later
// Many nodes ask at once. Whatever the order of their steps, whoever dies and however long anybody
// takes, no more act than the limits allow; and when the crowd has gone, room that is left is used.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "unit/fleet_fixture.h"
#include "unit/random.h"

namespace acrf {
namespace {

// A node's healthd as the protocol has it. Each step is one call to slurmctld, which serialises
// them; between two steps anything may happen.
struct Asker {
  enum class At { kIdle, kWilling, kClaimed, kRead, kActing, kDead, kDone };
  std::string node, fault_class;
  std::string speaker = {};  // of a node that is silent: who asks for it
  std::int64_t skew_s = 0;   // its clock, should it not use slurmctld's
  At at = At::kIdle;
  std::int64_t seen_unix_s = 0;       // slurmctld's clock at the last look
  std::int64_t claimed_steady_s = 0;  // its own steady clock, before the claim was sent
  Permission permission = Permission::kHeld;
  std::int64_t pause_until_s = 0;
};

class Crowd {
 public:
  Crowd(Random& random, int nodes, Config config) : random_(random), config_(std::move(config)) {
    fleet_ = fleet_of(nodes);
  }

  void add(const std::string& node, const std::string& fault_class, std::int64_t skew_s = 0,
           const std::string& speaker = "") {
    Asker asker;
    asker.node = node;
    asker.fault_class = fault_class;
    asker.skew_s = skew_s;
    asker.speaker = speaker;
    askers_.push_back(asker);
  }
  std::vector<Asker>& askers() { return askers_; }
  Fleet& fleet() { return fleet_; }

  // Updates that are on their way arrive before a long time has passed.
  void pass(std::int64_t seconds) {
    if (seconds > 30)
      for (auto& asker : askers_)
        if (asker.at == Asker::At::kActing) step(asker, false);
    fleet_.now_unix_s += seconds;
    steady_s_ += seconds;
  }

  // One step of one asker. `crash` ends it right after the step.
  void step(Asker& asker, bool crash) {
    if (asker.at == Asker::At::kDead || asker.at == Asker::At::kDone) return;
    if (steady_s_ < asker.pause_until_s) return;
    auto& token = acrf::at(fleet_, asker.node).token;
    switch (asker.at) {
      case Asker::At::kIdle:
        asker.permission = look(asker);
        asker.at = Asker::At::kWilling;
        asker.claimed_steady_s = steady_s_;
        if (asker.permission != Permission::kAct) stand_back(asker, token);
        break;
      case Asker::At::kWilling: claim(asker, token); break;
      case Asker::At::kClaimed:
        asker.permission = look(asker);
        asker.at = is_claimed_by(token, asker.speaker) ? Asker::At::kRead : Asker::At::kIdle;
        break;
      case Asker::At::kRead: decide(asker, token); break;
      case Asker::At::kActing:
        acted(fleet_, asker.node, asker.fault_class, asker.seen_unix_s);
        asker.at = Asker::At::kDone;
        break;
      case Asker::At::kDead:
      case Asker::At::kDone: break;
    }
    if (crash) asker.at = Asker::At::kDead;
  }

  int acts() const {
    return static_cast<int>(std::count_if(fleet_.nodes.begin(), fleet_.nodes.end(),
                                          [](auto& node) { return node.token.acted.has_value(); }));
  }

 private:
  Permission look(Asker& asker) const {
    asker.seen_unix_s = fleet_.now_unix_s + asker.skew_s;
    return ask_brakes(config_, fleet_, {asker.node, asker.fault_class, asker.speaker}).permission;
  }

  void stand_back(Asker& asker, NodeToken& token) {
    const bool held = asker.permission == Permission::kHeld;
    if (held)
      set_braked(token, asker.fault_class, fleet_.now_unix_s, asker.speaker);
    else
      withdraw_claim(token, asker.speaker);
    asker.at = Asker::At::kIdle;
    asker.pause_until_s = steady_s_ + (held ? 30 : 1 + random_.below(5));
  }

  void claim(Asker& asker, NodeToken& token) {
    set_claim(token, asker.fault_class, asker.seen_unix_s, asker.speaker);
    asker.at = Asker::At::kClaimed;
  }

  void decide(Asker& asker, NodeToken& token) {
    if (steady_s_ - asker.claimed_steady_s >= kClaimUse_s) {  // too old to be used
      asker.at = Asker::At::kIdle;
      return;
    }
    switch (asker.permission) {
      case Permission::kAct: asker.at = Asker::At::kActing; break;
      case Permission::kWait: asker.at = Asker::At::kClaimed; break;
      case Permission::kYield:
      case Permission::kHeld: stand_back(asker, token); break;
    }
  }

  Random& random_;
  Config config_;
  Fleet fleet_;
  std::vector<Asker> askers_;
  std::int64_t steady_s_ = 0;
};

Config budget_of(int nodes) {
  Config config;
  config.max_drains_per_hour = {nodes, false};
  config.common_cause_nodes = 0;
  config.min_healthy = {0, true};
  config.max_drained = {100, true};
  return config;
}

// Runs every order of the steps of the askers, up to a depth, and checks the limit in each state.
void all_orders(const Crowd& crowd, int limit, int depth, long& states) {
  ++states;
  ASSERT_LE(crowd.acts(), limit);
  if (depth == 0) return;
  for (std::size_t i = 0; i < 3; ++i) {
    Crowd next = crowd;
    auto& asker = next.askers()[i];
    if (asker.at == Asker::At::kDone) continue;
    next.step(asker, false);
    all_orders(next, limit, depth - 1, states);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Claims, NoOrderOfStepsPassesTheBudget) {
  for (const int limit : {1, 2}) {
    Random random(1);
    Crowd crowd(random, 3, budget_of(limit));
    crowd.add("n1", "gsp");
    crowd.add("n2", "mce");
    crowd.add("n3", "panic");
    long states = 0;
    all_orders(crowd, limit, 11, states);
    EXPECT_GT(states, 1000);
  }
}

// Two neighbours accuse n1, and n2 asks for itself: who takes back a claim must not take back
// another's.
TEST(Claims, TwoAccusersOfOneNodeAndAThirdNodeDoNotPassTheBudget) {
  Random random(1);
  Crowd crowd(random, 4, budget_of(1));
  crowd.add("n1", "node_lost", 0, "n3");
  crowd.add("n1", "node_lost", 0, "n4");
  crowd.add("n2", "mce");
  long states = 0;
  all_orders(crowd, 1, 11, states);
  EXPECT_GT(states, 1000);
}

// What differs: who dies and when, how much time passes between steps, who comes back.
void random_crowd(std::uint64_t seed, bool with_crashes) {
  Random random(seed);
  const int nodes = 2 + random.below(10);
  const int limit = random.below(4);
  Crowd crowd(random, nodes, budget_of(limit));
  for (int i = 1; i <= nodes; ++i)
    crowd.add("n" + std::to_string(i), "class" + std::to_string(random.below(3)),
              random.below(21) - 10);
  for (int i = random.below(3); i > 0; --i)
    crowd.add("n" + std::to_string(1 + random.below(nodes)), "node_lost", random.below(21) - 10,
              "accuser" + std::to_string(i));
  for (int i = 0; i < 400; ++i) {
    const int askers = static_cast<int>(crowd.askers().size());
    auto& asker = crowd.askers()[static_cast<std::size_t>(random.below(askers))];
    if (asker.at == Asker::At::kDead && random.one_in(3)) asker.at = Asker::At::kIdle;  // restarted
    crowd.step(asker, with_crashes && random.one_in(12));
    ASSERT_LE(crowd.acts(), limit) << "seed " << seed << " step " << i;
    if (random.one_in(4)) crowd.pass(random.one_in(30) ? random.below(150) : random.below(3));
  }
  // The crowd's last hour: nobody dies any more, and those that had died are back.
  for (auto& asker : crowd.askers())
    if (asker.at == Asker::At::kDead) asker.at = Asker::At::kIdle;
  const int wanted = std::min(limit, nodes);
  for (int round = 0; round < 600 && crowd.acts() < wanted; ++round) {
    for (auto& asker : crowd.askers()) crowd.step(asker, false);
    crowd.pass(1);
  }
  EXPECT_EQ(crowd.acts(), wanted) << "seed " << seed;
}

TEST(Claims, RandomCrowdsKeepTheBudgetAndUseIt) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    random_crowd(seed, false);
    if (HasFailure()) return;
  }
}

TEST(Claims, CrashesAtAnyPointPassNothingAndBlockNothing) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    random_crowd(seed, true);
    if (HasFailure()) return;
  }
}

TEST(Claims, ACrowdWithOneFaultIsFrozenBeforeTheThirdActs) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Config config;  // as it comes
    config.max_drains_per_hour = config.max_drained = {100, true};
    config.min_healthy = {0, true};
    Crowd crowd(random, 40, config);
    for (int i = 1; i <= 40; i += 5) crowd.add("n" + std::to_string(i), "gpu_lost");
    for (int i = 0; i < 600; ++i) {
      crowd.step(crowd.askers()[static_cast<std::size_t>(random.below(8))], false);
      ASSERT_LE(crowd.acts(), config.common_cause_nodes - 1) << "seed " << seed;
      if (random.one_in(4)) crowd.pass(random.below(3));
    }
  }
}

}  // namespace
}  // namespace acrf
