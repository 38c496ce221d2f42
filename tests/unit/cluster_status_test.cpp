// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/acrf/cluster_status.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace acrf {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

int& count(std::array<int, kPartStates.size()>& counts, PartState state) {
  return counts[static_cast<std::size_t>(state)];
}

StatusFacts hundred_nodes() {
  StatusFacts facts;
  facts.cluster = "east";
  facts.mode = "enforce";
  facts.source = "slurmctld";
  count(facts.nodes, PartState::kUnknown) = 100;
  count(facts.gpus, PartState::kUnknown) = 800;
  facts.gpus_in_use = 200;
  facts.jobs = {{"running", 3}, {"pending", 1}};
  return facts;
}

void drain(StatusFacts& facts, int nodes) {
  count(facts.nodes, PartState::kUnknown) -= nodes;
  count(facts.nodes, PartState::kDrained) += nodes;
  for (int i = 0; i < nodes; ++i) {
    NodeShown node;
    node.name = "n" + std::to_string(i);
    node.state = PartState::kDrained;
    node.reason = "ACRF: gpu_lost 0000:1a:00 drain [e" + std::to_string(i) + "]";
    facts.out.push_back(node);
  }
}

TEST(ClusterStatus, GetsWorseWithTheShareOfNodesThatAreOut) {
  auto facts = hundred_nodes();
  EXPECT_EQ(judge_status(facts, {}).status, CheckStatus::kOk);
  drain(facts, 1);
  EXPECT_EQ(judge_status(facts, {}).status, CheckStatus::kWarning);
  EXPECT_EQ(judge_status(facts, {}).sentence, "1 of 100 nodes out of service");
  EXPECT_EQ(judge_status(facts, {2, 10}).status, CheckStatus::kOk);
  drain(facts, 10);
  EXPECT_EQ(judge_status(facts, {}).status, CheckStatus::kCritical);
  EXPECT_EQ(judge_status(facts, {0, 50}).status, CheckStatus::kWarning);
}

TEST(ClusterStatus, PlannedWorkIsNoFault) {
  auto facts = hundred_nodes();
  count(facts.nodes, PartState::kUnknown) -= 60;
  count(facts.nodes, PartState::kMaintenance) += 60;
  EXPECT_EQ(judge_status(facts, {}).status, CheckStatus::kOk);
}

TEST(ClusterStatus, AHeldNodeIsCriticalAndAFullBrakeAWarning) {
  auto facts = hundred_nodes();
  facts.brakes_full = {"2 of 100 nodes were acted on in the last hour, limit 2"};
  EXPECT_EQ(judge_status(facts, {}).status, CheckStatus::kWarning);
  facts.held = "n[7-8]";
  EXPECT_EQ(judge_status(facts, {}).status, CheckStatus::kCritical);
  EXPECT_THAT(judge_status(facts, {}).sentence, HasSubstr("n[7-8]"));
}

// slurmctld does not know whether a node is well; a hub that hears nothing of one does.
TEST(ClusterStatus, SilenceMattersOnlyWhereNodesReport) {
  auto facts = hundred_nodes();
  facts.told = true;
  EXPECT_EQ(judge_status(facts, {}).status, CheckStatus::kWarning);
  EXPECT_THAT(judge_status(facts, {}).sentence, HasSubstr("do not report"));
  std::swap(count(facts.nodes, PartState::kUnknown), count(facts.nodes, PartState::kHealthy));
  EXPECT_EQ(judge_status(facts, {}).status, CheckStatus::kOk);
}

TEST(ClusterStatus, NoNodesIsUnknown) {
  EXPECT_EQ(judge_status(StatusFacts{}, {}).status, CheckStatus::kUnknown);
}

TEST(ClusterStatus, TenLinesHoldAllThatThereIs) {
  auto facts = hundred_nodes();
  drain(facts, 20);
  facts.told = true;
  facts.recoveries = {12, 1.3, 4.25};
  facts.ettr = 0.987;
  facts.incidents_open = 2;
  facts.incidents_last_hour = 5;
  facts.here = "n3";
  facts.here_verdict = {CheckStatus::kOk, "HEALTHY", "no findings"};
  const auto text = status_text(facts, judge_status(facts, {}));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  EXPECT_THAT(text, AllOf(StartsWith("ACRF CRITICAL - 20 of 100 nodes out of service\n"),
                          HasSubstr("800: 800 unknown; 200 in use (25 %)"),
                          HasSubstr("3 running, 1 pending"),
                          HasSubstr("12, half of them within 1.3 s, 99 % within 4.2 s; ETTR 0.987"),
                          HasSubstr("2 open, 5 in the last hour"), HasSubstr("n3: HEALTHY"),
                          HasSubstr("n0 drained: ACRF: gpu_lost"), HasSubstr("and 19 more")));
}

TEST(ClusterStatus, WithoutAHubNothingIsMadeUp) {
  auto facts = hundred_nodes();
  facts.note = "hub http://h:1 does not answer: timeout";
  const auto text = status_text(facts, judge_status(facts, {}));
  EXPECT_THAT(text, AllOf(HasSubstr("100 in service"), Not(HasSubstr("healthy")),
                          Not(HasSubstr("incidents")), Not(HasSubstr("recoveries")),
                          HasSubstr("as slurmctld says (hub http://h:1 does not answer")));
}

TEST(ClusterStatus, AReasonCannotDrawOnTheTerminal) {
  auto facts = hundred_nodes();
  drain(facts, 1);
  facts.out[0].reason = "x\033[2J\ny";
  const auto text = status_text(facts, judge_status(facts, {}));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(text, Not(HasSubstr("\ny")));
}

TEST(ClusterStatus, JsonHasWhatTheTextHas) {
  auto facts = hundred_nodes();
  drain(facts, 1);
  const auto json = status_json(facts, judge_status(facts, {}));
  EXPECT_EQ(json["status"], 1);
  EXPECT_EQ(json["word"], "WARNING");
  EXPECT_EQ(json["nodes"]["drained"], 1);
  EXPECT_EQ(json["gpus_in_use"], 200);
  EXPECT_EQ(json["out"][0]["name"], "n0");
  EXPECT_FALSE(json.contains("recoveries"));
}

}  // namespace
}  // namespace acrf
