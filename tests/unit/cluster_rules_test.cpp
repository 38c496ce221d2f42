// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/cluster_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace acrf {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kNow = 1'800'000'000;
constexpr std::int64_t kDay = 86400;

std::vector<FleetMember> fleet(int nodes) {
  std::vector<FleetMember> all;
  for (int i = 1; i <= nodes; ++i)
    all.push_back({"n" + std::to_string(i), "s" + std::to_string((i - 1) / 4), "550"});
  return all;
}

FleetFault fault(const std::string& node, const std::string& fault_class, std::int64_t ago_s,
                 std::optional<std::uint64_t> job = {}) {
  return {node, fault_class, "550", kNow - ago_s, true, job};
}

TEST(ClusterRules, OneClassOnSeveralNodesAtOnceHasACommonCause) {
  std::vector<FleetFault> faults = {fault("n1", "gpu_lost", 10), fault("n5", "gpu_lost", 100)};
  EXPECT_TRUE(advise_cluster(faults, fleet(100), {}, kNow).empty());
  faults.push_back(fault("n9", "gpu_lost", 700));  // too long ago
  EXPECT_TRUE(advise_cluster(faults, fleet(100), {}, kNow).empty());
  faults.push_back(fault("n9", "gpu_lost", 500));
  const auto advice = advise_cluster(faults, fleet(100), {}, kNow);
  ASSERT_EQ(advice.size(), 3u);
  EXPECT_EQ(advice[0].kind, AdviceKind::kCommonCause);
  EXPECT_THAT(advice[0].text, HasSubstr("3 nodes have gpu_lost"));
  EXPECT_TRUE(advise_cluster(faults, fleet(100), {0, 600}, kNow).empty());
}

TEST(ClusterRules, AnyFaultsUnderOneSwitchPointToTheSwitch) {
  const std::vector<FleetFault> faults = {fault("n1", "nvlink", 10), fault("n2", "gpu_lost", 20),
                                          fault("n3", "ecc", 30)};
  const auto advice = advise_cluster(faults, fleet(100), {}, kNow);
  ASSERT_EQ(advice.size(), 3u);
  EXPECT_THAT(advice[2].text, HasSubstr("3 nodes of s0 have faults"));
}

TEST(ClusterRules, FaultsThatTakeNoNodeOutOfServiceAreNoSign) {
  std::vector<FleetFault> faults;
  for (int i = 1; i <= 9; ++i) faults.push_back(fault("n" + std::to_string(i), "app", 10));
  for (auto& one : faults) one.acting = false;
  EXPECT_TRUE(advise_cluster(faults, fleet(10), {}, kNow).empty());
}

TEST(ClusterRules, ANodeThatFailsAgainAndAgainIsALemon) {
  const std::vector<FleetFault> faults = {
      fault("n7", "gpu_lost", 20 * kDay, 1), fault("n7", "gpu_lost", 9 * kDay, 2),
      fault("n7", "ecc_uncorrected", 2 * kDay, 3), fault("n8", "gpu_lost", 2 * kDay)};
  const auto advice = advise_cluster(faults, fleet(100), {}, kNow);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].node, "n7");
  EXPECT_EQ(advice[0].kind, AdviceKind::kLemon);
  EXPECT_EQ(advice[0].risk, 100);
  EXPECT_THAT(advice[0].text, HasSubstr("3 faults in 28 days: on 3 days, 2 times gpu_lost"));
}

TEST(ClusterRules, OneSignOrOldFaultsMakeNoLemon) {
  // One bad afternoon of one job, of different classes, where all nodes have such afternoons.
  std::vector<FleetFault> faults;
  for (int node = 1; node <= 10; ++node)
    for (const char* kind : {"a", "b", "c"})
      faults.push_back(fault("n" + std::to_string(node), kind, 5 * kDay, 1));
  EXPECT_TRUE(advise_cluster(faults, fleet(10), {}, kNow).empty());
  const std::vector<FleetFault> old = {fault("n7", "gpu_lost", 29 * kDay, 1),
                                       fault("n7", "gpu_lost", 30 * kDay, 2),
                                       fault("n7", "gpu_lost", 31 * kDay, 3)};
  EXPECT_TRUE(advise_cluster(old, fleet(10), {}, kNow).empty());
}

TEST(ClusterRules, NoMoreThanOneInAHundredNodesIsALemon) {
  std::vector<FleetFault> faults;
  for (int node = 1; node <= 20; ++node)
    for (int day = 1; day <= 3 + (node == 4); ++day)
      faults.push_back(fault("n" + std::to_string(node), "gpu_lost", day * kDay + 1000));
  const auto advice = advise_cluster(faults, fleet(100), {}, kNow);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].node, "n4");
}

TEST(ClusterRules, ADriverUnderWhichMoreNodesFailIsNamed) {
  auto members = fleet(100);
  for (int i = 0; i < 20; ++i) members[static_cast<std::size_t>(i)].driver = "570";
  std::vector<FleetFault> faults;
  for (const char* node : {"n1", "n2", "n3"}) {
    faults.push_back(fault(node, "gsp_timeout", 2 * kDay));
    faults.back().driver = "570";
  }
  const auto advice = advise_cluster(faults, members, {}, kNow);
  ASSERT_EQ(advice.size(), 3u);
  EXPECT_EQ(advice[0].kind, AdviceKind::kDriver);
  EXPECT_THAT(advice[0].text, HasSubstr("3 of 20 nodes with driver 570 had gsp_timeout"));
  // The same rate under the old driver: no regression.
  for (int i = 50; i < 62; ++i) faults.push_back(fault("n" + std::to_string(i), "gsp_timeout", kDay));
  EXPECT_TRUE(advise_cluster(faults, members, {}, kNow).empty());
}

TEST(ClusterRules, AFleetWithOneDriverHasNothingToCompareWith) {
  std::vector<FleetFault> faults;
  for (int i = 1; i <= 5; ++i) faults.push_back(fault("n" + std::to_string(i), "x", 2 * kDay));
  EXPECT_TRUE(advise_cluster(faults, fleet(100), {}, kNow).empty());
}

}  // namespace
}  // namespace acrf
