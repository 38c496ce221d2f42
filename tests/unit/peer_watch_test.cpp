// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/peer_watch.h"

#include <gmock/gmock.h>

#include <map>

namespace acrf {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

PeerVerdict look(PeerRecord& record, std::int64_t at_ms, bool healthd,
                 std::optional<bool> slurmd = std::nullopt) {
  return record.note({at_ms, healthd, false, slurmd});
}

TEST(PeerWatch, ANodeOfWhichNothingAnswersForSomeTimeIsDead) {
  PeerRecord record({});
  EXPECT_EQ(look(record, 1000, true), PeerVerdict::kAlive);
  EXPECT_EQ(look(record, 3999, false, false), PeerVerdict::kUnknown) << "not silent for long";
  EXPECT_EQ(look(record, 4000, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 4100, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 5100, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 7099, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 7100, false, false), PeerVerdict::kDead);
}

TEST(PeerWatch, OneThatWasNeverHeardHasNotFallenSilent) {
  PeerRecord record({});
  for (int s = 0; s < 1000; s += 2)
    EXPECT_EQ(look(record, s * 1000, false, false), PeerVerdict::kUnheard) << s;
}

TEST(PeerWatch, ASilentHealthdAloneIsNoDeath) {
  PeerRecord record({});
  look(record, 0, true);
  for (int s = 4; s < 1000; s += 2)
    EXPECT_EQ(look(record, s * 1000, false, true), PeerVerdict::kSuspect) << s;
  EXPECT_TRUE(record.only_slurmd_answers());
}

TEST(PeerWatch, WhoSaysFarewellIsGivenTimeToComeBack) {
  PeerRecord record({});
  look(record, 0, true);
  for (int s = 4; s < 120; ++s)
    EXPECT_EQ(record.note({s * 1000, false, true, false}), PeerVerdict::kUnknown) << s;
  for (int s = 120; s < 123; ++s) record.note({s * 1000, false, true, false});
  EXPECT_EQ(record.note({123'000, false, true, false}), PeerVerdict::kDead);
}

TEST(PeerWatch, ASlurmdThatAnswersOnceBeginsTheTimeAnew) {
  PeerRecord record({});
  look(record, 0, true);
  for (const int at : {4000, 5000, 6000}) look(record, at, false, false);
  EXPECT_EQ(look(record, 6500, false, true), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 7500, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 8500, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 10500, false, false), PeerVerdict::kDead);
}

TEST(PeerWatch, OneLateLookIsNotEnough) {
  PeerRecord record({});  // the watcher itself was stopped for a minute
  look(record, 0, true);
  EXPECT_EQ(look(record, 60'000, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 90'000, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 90'500, true), PeerVerdict::kAlive);
}

TEST(PeerWatch, LooksOfATimeOfIsolationDoNotCount) {
  PeerRecord record({});
  look(record, 1000, true);
  look(record, 4000, false, false);
  look(record, 5500, false, false);
  record.forget_looks();
  EXPECT_EQ(look(record, 7000, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 8500, false, false), PeerVerdict::kSuspect);
  EXPECT_EQ(look(record, 10000, false, false), PeerVerdict::kDead);
}

TEST(PeerWatch, WhoMissesMoreThanHalfIsCutOffItself) {
  const auto dead = PeerVerdict::kDead;
  const auto alive = PeerVerdict::kAlive;
  const auto unheard = PeerVerdict::kUnheard;
  EXPECT_THAT(judge_peers({dead, dead}), Each(PeerVerdict::kUnknown));
  EXPECT_THAT(judge_peers({dead}), Each(PeerVerdict::kUnknown));
  EXPECT_THAT(
      judge_peers({dead, PeerVerdict::kUnknown, dead, alive}),
      ElementsAre(PeerVerdict::kUnknown, PeerVerdict::kUnknown, PeerVerdict::kUnknown, alive));
  EXPECT_THAT(judge_peers({dead, alive}), ElementsAre(dead, alive));
  EXPECT_THAT(judge_peers({dead, dead, alive, alive}), ElementsAre(dead, dead, alive, alive));
  EXPECT_THAT(judge_peers({dead, unheard, unheard}),
              ElementsAre(PeerVerdict::kUnknown, unheard, unheard))
      << "who was never heard is no witness";
}

std::vector<std::string> names(int count) {
  std::vector<std::string> names;
  for (int i = 1; i <= count; ++i) names.push_back("n" + std::to_string(i));
  return names;
}

bool all(const std::string&) { return true; }

// Watchers of each node, by rank.
std::map<std::string, std::map<int, std::string>> watchers_of(
    const std::vector<std::string>& table, const std::function<bool(const std::string&)>& part) {
  std::map<std::string, std::map<int, std::string>> watchers;
  for (const auto& self : table) {
    if (!part(self)) continue;
    for (const auto& peer : neighbours_of(table, self, part)) {
      EXPECT_NE(peer.name, self);
      EXPECT_TRUE(watchers[peer.name].emplace(peer.rank, self).second)
          << "two watchers of " << peer.name << " have rank " << peer.rank;
    }
  }
  return watchers;
}

TEST(Neighbours, EachNodeIsWatchedByFourOthersWhoTakeTurns) {
  const auto watchers = watchers_of(names(1000), all);
  ASSERT_THAT(watchers, SizeIs(1000));
  for (const auto& [node, others] : watchers) {
    EXPECT_THAT(others, SizeIs(4)) << node;
    EXPECT_TRUE(others.contains(0) && others.contains(3)) << node;
  }
}

TEST(Neighbours, NodesThatDoNotTakePartArePassedOver) {
  const auto has_gpus = [](const std::string& name) { return name.back() % 2 == 0; };
  for (const auto& [node, others] : watchers_of(names(200), has_gpus)) {
    EXPECT_TRUE(has_gpus(node));
    EXPECT_THAT(others, SizeIs(4)) << node;
  }
}

TEST(Neighbours, ASmallClusterHasAsManyAsItHas) {
  for (int size = 2; size <= 8; ++size)
    for (const auto& [node, others] : watchers_of(names(size), all))
      EXPECT_THAT(others, SizeIs(std::min(size - 1, 4))) << node << " of " << size;
  EXPECT_THAT(neighbours_of(names(1), "n1", all), IsEmpty());
  EXPECT_THAT(neighbours_of(names(4), "x", all), IsEmpty());
}

}  // namespace
}  // namespace acrf
