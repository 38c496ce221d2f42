// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/acrf/cluster_view.h"

#include <gmock/gmock.h>

#include "tools/acrf/terminal.h"
#include "tools/acrf/top_view.h"

namespace acrf {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

NodeShown node(const std::string& name, PartState state, bool told = true) {
  NodeShown shown;
  shown.name = name;
  shown.state = state;
  shown.told = told;
  shown.slurm_state = is_out_of_service(state) ? "IDLE+DRAIN" : "MIXED";
  shown.gpus = 8;
  shown.gpus_out = is_out_of_service(state) ? 8 : 0;
  return shown;
}

GpuView gpu(int index) {
  GpuView view;
  view.node = "n1";
  view.index = index;
  return view;
}

TEST(ClusterView, WhatNobodyKnowsIsInServiceAndNotHealthy) {
  EXPECT_EQ(state_word(PartState::kUnknown, false), "in service");
  EXPECT_EQ(state_word(PartState::kUnknown, true), "unknown");
  EXPECT_EQ(check_of(PartState::kUnknown, true), CheckStatus::kUnknown);
  EXPECT_EQ(check_of(PartState::kUnknown, false), CheckStatus::kOk);
  EXPECT_EQ(check_of(PartState::kQuarantined, true), CheckStatus::kWarning);
  EXPECT_EQ(check_of(PartState::kDrained, true), CheckStatus::kCritical);
  EXPECT_EQ(check_of(PartState::kAttended, true), CheckStatus::kCritical);
  EXPECT_EQ(check_of(PartState::kMaintenance, true), CheckStatus::kOk);
}

TEST(ClusterView, ANodesRowCountsItsGpusAndJobs) {
  auto one = node("gpu-rack7-node12", PartState::kQuarantined);
  one.gpus_out = 1;
  one.jobs = {11, 12, 13};
  one.reason = "";
  const auto text = nodes_text({one});
  EXPECT_THAT(text, AllOf(StartsWith("NODE"), HasSubstr("gpu-rack7-node12  quarantined"),
                          HasSubstr("7/8"), HasSubstr("11,12,+1")));
}

TEST(ClusterView, AGpusPageHasOnlyWhatIsKnown) {
  auto one = gpu(3);
  EXPECT_THAT(gpu_text(one),
              AllOf(StartsWith("GPU 3 of node n1: in service\n"), HasSubstr("job"),
                    Not(HasSubstr("temperature_c")), HasSubstr("with its acrf-healthd")));
  one.told = true;
  one.state = PartState::kHealthy;
  one.values[0] = 41;
  one.job = 77;
  EXPECT_THAT(gpu_text(one), AllOf(StartsWith("GPU 3 of node n1: healthy\n"),
                                   HasSubstr("temperature_c         41"), HasSubstr("77"),
                                   Not(HasSubstr("acrf-healthd"))));
  EXPECT_EQ(to_json(one)["temperature_c"], 41);
  EXPECT_TRUE(to_json(one)["power_w"].is_null());
}

TEST(ClusterView, ANodesPageEndsWithItsGpus) {
  NodeDetails details;
  details.node = node("n1", PartState::kDrained);
  details.node.reason = "ACRF: gpu_lost";
  details.node.last_report_ms = 1000;
  details.node.verdict = "XID_CRITICAL_79";
  details.verdict_text = "gpu_lost 0000:1a:00";
  details.gpus = {gpu(0), gpu(1)};
  details.incidents = {{"i-1", "gpu_lost", "fatal", "closed", "0000:1a:00", "node drained", 500}};
  const auto text = details_text(details, 6000);
  EXPECT_THAT(text, AllOf(StartsWith("node n1: drained\n"), HasSubstr("5 s ago"),
                          HasSubstr("XID_CRITICAL_79: gpu_lost"), HasSubstr("i-1 closed gpu_lost"),
                          HasSubstr("n1:0"), HasSubstr("n1:1")));
  const auto json = to_json(details);
  EXPECT_EQ(json["gpus"].size(), 2u);
  EXPECT_EQ(json["incidents"][0]["class"], "gpu_lost");
}

TEST(ClusterView, AgesAreRound) {
  EXPECT_EQ(age_text(-5), "0 s");
  EXPECT_EQ(age_text(119'000), "119 s");
  EXPECT_EQ(age_text(600'000), "10 min");
  EXPECT_EQ(age_text(7'200'000), "2 h");
  EXPECT_EQ(age_text(86'400'000LL * 3), "3 d");
}

TopData three_nodes() {
  TopData data;
  data.facts.cluster = "east";
  data.facts.nodes[static_cast<std::size_t>(PartState::kHealthy)] = 2;
  data.facts.nodes[static_cast<std::size_t>(PartState::kDrained)] = 1;
  data.nodes = {node("n1", PartState::kHealthy), node("n2", PartState::kHealthy),
                node("n3", PartState::kDrained)};
  data.judgement = judge_status(data.facts, {});
  data.time = "12:00:00";
  sort_for_top(data);
  return data;
}

TEST(TopView, TheWorstIsFirst) {
  const auto data = three_nodes();
  EXPECT_EQ(data.nodes[0].name, "n3");
  EXPECT_EQ(data.nodes[1].name, "n1");
}

TEST(TopView, FitsIntoAnyTerminal) {
  const auto data = three_nodes();
  for (const std::size_t lines : {1, 2, 3, 7, 10, 24, 200})
    for (const std::size_t columns : {1, 10, 80, 300}) {
      TopFrame frame;
      frame.lines = lines;
      frame.columns = columns;
      frame.first = 1000;
      const auto shown = top_lines(data, frame);
      EXPECT_LE(shown.size(), lines);
      for (const auto& line : shown) EXPECT_LE(line.size(), columns);
    }
}

TEST(TopView, AScrolledPageStaysWithinItsRows) {
  const auto data = three_nodes();
  TopFrame frame;
  frame.lines = 200;
  frame.first = 1000;
  const auto shown = top_lines(data, frame);
  EXPECT_EQ(frame.first, 0u);
  EXPECT_EQ(shown.back(), "1-3 of 3");
}

TEST(TopView, ColoursOnlyWhereTheyAreWanted) {
  const auto data = three_nodes();
  TopFrame frame;
  frame.lines = 50;
  for (const auto& line : top_lines(data, frame)) EXPECT_THAT(line, Not(HasSubstr("\033")));
  frame.colours = true;
  bool red = false;
  for (const auto& line : top_lines(data, frame))
    red = red || (line.find("n3") != std::string::npos && line.find("\033[31m") == 0);
  EXPECT_TRUE(red);
}

TEST(TopView, SaysWhenItIsNotNew) {
  auto data = three_nodes();
  data.problem = "ask slurmctld for its nodes: Unable to contact slurm controller";
  TopFrame frame;
  frame.lines = 50;
  EXPECT_THAT(top_lines(data, frame), testing::Contains(StartsWith("not new: ask slurmctld")));
}

TEST(Terminal, KeysAreTakenApart) {
  const auto strokes = strokes_in("q\033[A\033[6~\033OBn\033");
  ASSERT_THAT(strokes, SizeIs(6));
  EXPECT_EQ(strokes[0].character, 'q');
  EXPECT_EQ(strokes[1].key, Key::kUp);
  EXPECT_EQ(strokes[2].key, Key::kPageDown);
  EXPECT_EQ(strokes[3].key, Key::kDown);
  EXPECT_EQ(strokes[4].character, 'n');
  EXPECT_EQ(strokes[5].character, '\033');
  EXPECT_THAT(strokes_in("\033[1;5"), SizeIs(1));  // cut off
}

}  // namespace
}  // namespace acrf
