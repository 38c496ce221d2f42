// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/accusation.h"

#include <gmock/gmock.h>

namespace acrf {
namespace {

using testing::ElementsAre;

constexpr int kAgain_s = 3600;
constexpr char kSlow[] = "mine acrf-progress:slow,step=7,nodes=n3";

TEST(Accusation, IsHeardOnceInATime) {
  const AccusingJob job{4, kSlow, "acrf:policy=requeue,max-requeues=8"};
  const auto heard = new_accusation(job, 1000, kAgain_s);
  ASSERT_TRUE(heard);
  EXPECT_FALSE(heard->hangs);
  EXPECT_THAT(heard->nodes, ElementsAre("n3"));
  const auto noted = with_accusation(job.admin_comment, *heard, 1000);
  EXPECT_EQ(noted, "acrf:policy=requeue,max-requeues=8 acrf-verdicts:1000-slow-n3");
  const AccusingJob again{4, kSlow, noted};
  EXPECT_FALSE(new_accusation(again, 1000 + kAgain_s - 1, kAgain_s));
  EXPECT_TRUE(new_accusation(again, 1000 + kAgain_s, kAgain_s));
  const AccusingJob hangs{4, "acrf-progress:hang,step=8,nodes=n3", noted};
  EXPECT_TRUE(new_accusation(hangs, 1001, kAgain_s)) << "something else";
}

TEST(Accusation, IsHeardOnlyFromJobsThatCanCompareAndAboutFewNodes) {
  EXPECT_FALSE(new_accusation({2, kSlow, ""}, 1000, kAgain_s));
  EXPECT_FALSE(new_accusation({1, kSlow, ""}, 1000, kAgain_s));
  EXPECT_TRUE(new_accusation({3, kSlow, ""}, 1000, kAgain_s));
  const char* two = "acrf-progress:slow,step=7,nodes=n[3-4]";
  EXPECT_FALSE(new_accusation({7, two, ""}, 1000, kAgain_s));
  EXPECT_TRUE(new_accusation({8, two, ""}, 1000, kAgain_s));
  EXPECT_FALSE(
      new_accusation({8, "acrf-progress:slow,step=7,nodes=n[1-999999]", ""}, 1000, kAgain_s));
  const std::string endless = std::string(5000, 'x') + " " + kSlow;
  EXPECT_FALSE(new_accusation({8, endless, ""}, 1000, kAgain_s));
}

TEST(Accusation, TheLastOnesAreKeptAndDamageIsNone) {
  std::string comment;
  for (int i = 0; i < 12; ++i)
    comment = with_accusation(comment, {true, 1, {"n-" + std::to_string(i)}}, 100 + i);
  const auto found = find_accusations(comment);
  ASSERT_EQ(found.size(), 8U);
  EXPECT_EQ(found.front(), (PastAccusation{104, true, "n-4"}));
  EXPECT_EQ(found.back(), (PastAccusation{111, true, "n-11"}));
  for (const char* bad : {"", "acrf-verdicts:", "acrf-verdicts:1-odd-n1", "acrf-verdicts:x-hang-n1",
                          "acrf-verdicts:1-hang-", "acrf-verdicts:1"})
    EXPECT_TRUE(find_accusations(bad).empty()) << bad;
}

TEST(Accusation, TheNodesMarkSaysUntilWhenAndByWhomAndMakesItASuspect) {
  NodeToken token;
  token.health.risk = 20;
  token.accused = accused_mark(1'700'000'000, false, 1000);
  const auto comment = with_node_token("rack 7", token);
  EXPECT_EQ(node_token_in(comment), token);
  EXPECT_TRUE(is_accused_by(token, 1000));
  EXPECT_FALSE(is_accused_by(token, 100));
  EXPECT_FALSE(is_accused_by({}, 1000));
  const auto health = find_node_health(comment);
  ASSERT_TRUE(health);
  EXPECT_TRUE(health->suspect);
  EXPECT_FALSE(node_token_in(comment).health.suspect) << "goes with the mark";
}

}  // namespace
}  // namespace acrf
