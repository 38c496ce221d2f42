// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hub/layout.h"

namespace acrf::hub {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kNow = 1'800'000'000'000;

ClusterLook cluster(int nodes, const std::string& topology = "") {
  ClusterLook look;
  look.cluster = "test";
  std::vector<std::string> names;
  for (int i = 1; i <= nodes; ++i) names.push_back("n" + std::to_string(i));
  const auto tree = topology.empty() ? Result<Topology>(Topology::flat(nodes))
                                     : Topology::parse(topology, "topology.conf", names);
  look.layout = layout_of(*tree, names, std::vector<int>(names.size(), 2));
  for (const auto& name : names) {
    FleetNode node;
    node.name = name;
    node.has_gpus = true;
    look.fleet.nodes.push_back(node);
    look.slurm_states.push_back("IDLE");
    look.addresses.push_back("127.0.0.1");
    look.busy.push_back(false);
  }
  return look;
}

Report healthy(const std::string& node) {
  Report report;
  report.node = node;
  report.stream = "s";
  ReportedState state;
  state.verdict = "HEALTHY";
  state.state = PartState::kHealthy;
  state.gpus = {{0, "GPU-0", "", "", "", PartState::kHealthy},
                {1, "GPU-1", "", "", "", PartState::kHealthy}};
  report.items.push_back({1, kNow, state});
  return report;
}

std::vector<json> events_of(Model& model, std::string_view kind, std::uint64_t after) {
  std::vector<json> all;
  for (const auto& event : model.feed().wait(after, std::chrono::milliseconds(0)).events)
    if (event->kind == kind) all.push_back(json::parse(event->data));
  return all;
}

std::vector<json> fleet_events(Model& model, std::uint64_t after) {
  return events_of(model, "fleet", after);
}

TEST(HubModel, ANodeIsUnknownUntilItReports) {
  Model model("observe");
  EXPECT_EQ(model.take_report(healthy("n1"), kNow).error().code, ErrorCode::kUnavailable);
  model.take_cluster(cluster(2));
  EXPECT_EQ(model.fleet(kNow).node_state, "00");
  ASSERT_TRUE(model.take_report(healthy("n1"), kNow).ok());
  EXPECT_EQ(model.fleet(kNow).node_state, "10");
  EXPECT_EQ(model.fleet(kNow).gpu_state, "1100");
  EXPECT_EQ(model.take_report(healthy("n3"), kNow).error().code, ErrorCode::kNotFound);
}

TEST(HubModel, ANodeThatFallsSilentIsUnknownAgain) {
  Model model("observe");
  model.take_cluster(cluster(1));
  ASSERT_TRUE(model.take_report(healthy("n1"), kNow).ok());
  model.publish_changes(kNow + 59'000);
  EXPECT_EQ(model.fleet(kNow).node_state, "1");
  model.publish_changes(kNow + 61'000);
  EXPECT_EQ(model.fleet(kNow).node_state, "0");
}

TEST(HubModel, SlurmAndTheTokenOutweighWhatTheNodeSays) {
  Model model("observe");
  model.take_cluster(cluster(4));
  for (const char* node : {"n1", "n2", "n3", "n4"})
    ASSERT_TRUE(model.take_report(healthy(node), kNow).ok());
  auto look = cluster(4);
  look.fleet.nodes[0].draining = true;
  look.fleet.nodes[1].draining = true;
  look.busy[1] = true;
  look.fleet.nodes[2].down = true;
  look.fleet.nodes[3].token.health.quarantined = 2;
  model.take_cluster(std::move(look));
  EXPECT_EQ(model.fleet(kNow).node_state, "6574");
  EXPECT_EQ(model.fleet(kNow).gpu_state, "66557714");
}

TEST(HubModel, PublishesEachChangeOnceAndTogether) {
  Model model("observe");
  model.take_cluster(cluster(3));
  model.publish_changes(kNow);
  const auto seq = model.feed().last();
  ASSERT_TRUE(model.take_report(healthy("n1"), kNow).ok());
  ASSERT_TRUE(model.take_report(healthy("n3"), kNow).ok());
  model.publish_changes(kNow);
  ASSERT_TRUE(model.take_report(healthy("n1"), kNow).ok());
  model.publish_changes(kNow);
  const auto events = fleet_events(model, seq);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["seq"], seq + 1);
  ASSERT_EQ(events[0]["nodes"].size(), 2u);
  EXPECT_EQ(events[0]["nodes"][1], (json{{"i", 2}, {"node", "n3"}, {"state", 1}, {"gpus", "11"}}));
}

TEST(HubModel, PodsAndLeavesFollowTheTopology) {
  const auto look = cluster(4,
                            "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n3\n"
                            "SwitchName=c Nodes=n4\nSwitchName=p1 Switches=a,b\n"
                            "SwitchName=p2 Switches=c\nSwitchName=top Switches=p1,p2\n");
  ASSERT_EQ(look.layout.pods.size(), 2u);
  EXPECT_EQ(look.layout.pods[0].name, "p1");
  EXPECT_EQ(look.layout.pods[0].count, 2);
  EXPECT_EQ(look.layout.leaves[2].name, "c");
  const auto flat = cluster(2).layout;
  EXPECT_EQ(flat.pods[0].name, "cluster");
  EXPECT_EQ(flat.leaves[0].name, "all");
}

TEST(HubModel, AnIncidentIsToldWhenItIsNewAndWhenItChanges) {
  Model model("observe");
  ReportedIncident incident;
  incident.id = "i1";
  incident.fault_class = "gpu_lost";
  incident.opened_ms = kNow;
  incident.json = "{\"v\":1}";
  model.take_incident(incident);
  model.take_incident(incident);
  EXPECT_EQ(model.stats(kNow).incidents_open, 1u);
  incident.closed_ms = kNow + 1;
  incident.json = "{\"v\":2}";
  model.take_incident(incident);
  EXPECT_EQ(model.feed().last(), 2u);
  const auto stats = model.stats(kNow);
  EXPECT_EQ(stats.incidents_open, 0u);
  EXPECT_EQ(stats.incidents_last_hour, 1u);
  EXPECT_EQ(stats.incidents_by_class.at("gpu_lost"), 1u);
}

TEST(HubModel, AJobsEventsNumberItsNodesWhileItRuns) {
  Model model("observe");
  model.take_cluster(cluster(4));
  JobLook job;
  job.id = 5;
  job.state = "RUNNING";
  job.node_ranges = {{1, 2}};
  const auto before = model.feed().last();
  model.take_jobs({job});
  job.state = "COMPLETED";
  model.take_jobs({job});
  const auto events = events_of(model, "job", before);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0]["ranges"], json::parse("[[1,2]]"));
  EXPECT_EQ(events[1]["ranges"], json::array());
}

TEST(HubModel, CountsJobsThatCameBackAndHowLongTheyWaited) {
  Model model("observe");
  model.take_cluster(cluster(2));
  JobLook job;
  job.id = 5;
  job.state = "RUNNING";
  job.node_ranges = {{0, 2}};
  job.gpus = 4;
  model.take_jobs({job});
  EXPECT_EQ(*model.stats(kNow).gpu_utilization, 1.0);
  EXPECT_THAT(model.node("n2")->node.jobs, ElementsAre(5u));
  job.state = "PENDING";
  job.restarts = 1;
  job.submit_ms = kNow;
  model.take_jobs({job});
  job.state = "RUNNING";
  job.start_ms = kNow + 7000;
  model.take_jobs({job});
  const auto stats = model.stats(kNow);
  EXPECT_EQ(stats.recoveries.count, 1u);
  EXPECT_EQ(stats.recoveries.p50_s, 7);
  EXPECT_EQ(stats.jobs.at("requeued"), 1u);
}

TEST(HubFeed, AReaderTooFarBehindIsToldSo) {
  Feed feed(2);
  for (int i = 0; i < 5; ++i) feed.publish("x", "{}");
  EXPECT_TRUE(feed.wait(1, std::chrono::milliseconds(0)).reset);
  EXPECT_TRUE(feed.wait(9, std::chrono::milliseconds(0)).reset);  // of another life
  const auto news = feed.wait(3, std::chrono::milliseconds(0));
  EXPECT_FALSE(news.reset);
  ASSERT_EQ(news.events.size(), 2u);
  EXPECT_EQ(news.events[0]->seq, 4u);
}

}  // namespace
}  // namespace acrf::hub
