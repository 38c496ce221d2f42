// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-hub on a real cluster: what happens on a node is there, once, however hub and node end in
// between.
#include <gmock/gmock.h>
#include <httplib.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/audit_log.h"
#include "common/munge.h"
#include "hub/history.h"
#include "hub/ingest.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using testing::IsSupersetOf;

class Hub : public LiveCluster {
 protected:
  void start_with_hubs(int hubs) {
    auto options = small();
    options.nodes = 2;
    options.hubs = hubs;
    options.acrf_conf =
        "ReportInterval=1\nMaxDrainsPerHour=100%\nMaxDrained=100%\nMinHealthy=0%\n"
        "CommonCauseNodes=0\n";
    start(options);
    for (int hub = 1; hub <= hubs; ++hub)
      ASSERT_TRUE(wait_until([&] { return nodes_reporting(hub) == 2; })) << log(hub);
  }

  std::string log(int hub = 1) {
    return text_of(cluster().path("log/hub-" + std::to_string(hub) + ".log"));
  }
  hub::History history(int hub = 1) {
    return hub::History(hub::history_path(cluster().path("hub-" + std::to_string(hub))));
  }
  int port(int hub = 1) {
    const auto url = cluster().hub_url(hub);
    return std::stoi(url.substr(url.rfind(':') + 1));
  }
  json get(const std::string& path, int hub = 1) {
    httplib::Client client("127.0.0.1", port(hub));
    const auto reply = client.Get(path.c_str());
    return reply && reply->status == 200 ? json::parse(reply->body, nullptr, false) : json();
  }
  int nodes_reporting(int hub = 1) {
    const auto stats = get("/v1/stats", hub);
    return stats.is_object() ? stats["hub"]["nodes_reporting"].get<int>() : 0;
  }

  // Incidents of the node that are in the hub's history, by their id.
  std::map<std::string, json> incidents(const std::string& node, int hub = 1) {
    std::map<std::string, json> all;
    const auto found = history(hub).incidents({.node = node});
    for (const auto& text : found ? *found : std::vector<std::string>{}) {
      const auto incident = json::parse(text);
      EXPECT_TRUE(all.emplace(incident.at("id"), incident).second) << "twice: " << text;
    }
    return all;
  }
  // What was done about its fault is over.
  bool has_closed_incident(const std::string& node, int hub = 1) {
    return wait_until(
        [&] {
          const auto all = incidents(node, hub);
          return std::any_of(all.begin(), all.end(), [](const auto& one) {
            return one.second["class"] == "gpu_lost" && one.second["closed_ms"] != 0;
          });
        },
        seconds(60));
  }
  // id -> result, of the node's own log.
  std::map<std::int64_t, std::string> audit_of(const std::string& node) {
    std::map<std::int64_t, std::string> all;
    const auto records =
        find_audit_records(audit_path(cluster().path("nodes/" + node + "/acrf")), {.newest = 1000});
    EXPECT_TRUE(records.ok());
    for (const auto& record : *records)
      all[record.id] = std::string(name_of(record.result.state));
    return all;
  }
  std::map<std::int64_t, std::string> audit_at_hub(const std::string& node, int hub = 1) {
    std::map<std::int64_t, std::string> all;
    const auto found = history(hub).audit({.node = node});
    for (const auto& one : found ? *found : std::vector<hub::AuditLook>{}) {
      const auto entry = json::parse(one.json);
      EXPECT_TRUE(all.emplace(entry.at("id"), entry.at("result")).second) << "twice: " << one.json;
    }
    return all;
  }
  bool has_whole_audit(const std::string& node, int hub = 1) {
    return wait_until([&] { return audit_of(node) == audit_at_hub(node, hub); }, seconds(60));
  }
  // Of one GPU; a second copy of a sample would be a second point of one second.
  std::size_t samples(const std::string& node, int hub = 1) {
    const auto now = std::time(nullptr);
    const auto series = history(hub).series({node, 0, 0, now - 3600, now + 60, 100'000});
    return series ? series->points.size() : 0;
  }
};

TEST_F(Hub, AnIncidentReachesItAtOnceAndWithItsWholeLife) {
  start_with_hubs(1);
  inject("n2");
  ASSERT_TRUE(wait_until([&] { return !incidents("n2").empty(); })) << log();
  EXPECT_TRUE(has_closed_incident("n2"));
  const auto all = incidents("n2");
  const auto& incident = all.begin()->second;
  EXPECT_EQ(incident["xid"], 79);
  EXPECT_EQ(incident["mode"], "enforce");
  EXPECT_TRUE(has_whole_audit("n2"));
  EXPECT_TRUE(incidents("n1").empty());
  // Drained, and left to people: there is no program that could mend it.
  EXPECT_TRUE(wait_until([&] { return get("/v1/stats")["nodes"]["attended"] == 1; }))
      << get("/v1/stats");
}

TEST_F(Hub, AKilledHubLosesNothingAndDoublesNothingAndHoldsNobodyUp) {
  start_with_hubs(1);
  inject("n1");
  ASSERT_TRUE(has_closed_incident("n1"));
  ASSERT_TRUE(cluster().kill("hub-1").ok());
  inject("n2");
  EXPECT_TRUE(wait_until([&] { return node("n2").drained; })) << record("n2");
  ASSERT_TRUE(cluster().start_hub().ok());
  EXPECT_TRUE(has_closed_incident("n2")) << log();
  for (const char* name : {"n1", "n2"}) EXPECT_TRUE(has_whole_audit(name)) << name;
  EXPECT_EQ(incidents("n1").size(), 1u);
}

TEST_F(Hub, NothingIsLostWhenTheNodesDaemonIsKilledWhileTheHubIsAway) {
  start_with_hubs(1);
  ASSERT_TRUE(cluster().kill("hub-1").ok());
  inject("n1");
  EXPECT_TRUE(wait_until([&] { return node("n1").drained; }));
  ASSERT_TRUE(cluster().kill("healthd-n1").ok());
  ASSERT_TRUE(cluster().start_healthd("n1").ok());
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  ASSERT_TRUE(cluster().start_hub().ok());
  EXPECT_TRUE(has_closed_incident("n1")) << log();
  EXPECT_TRUE(has_whole_audit("n1"));
}

TEST_F(Hub, EveryHubIsCompleteAlsoOneThatWasAway) {
  start_with_hubs(2);
  ASSERT_TRUE(cluster().kill("hub-2").ok());
  inject("n1");
  ASSERT_TRUE(has_closed_incident("n1", 1));
  ASSERT_TRUE(cluster().start_hub(2).ok());
  EXPECT_TRUE(has_closed_incident("n1", 2)) << log(2);
  EXPECT_TRUE(has_whole_audit("n1", 1));
  EXPECT_TRUE(has_whole_audit("n1", 2));
}

TEST_F(Hub, NobodySpeaksForAnotherNodeNorTwice) {
  start_with_hubs(1);
  const auto seals = munge_seals(cluster().path("munge.socket"));
  const auto post = [&](const std::string& credential, const std::string& body) {
    httplib::Client client("127.0.0.1", port());
    const auto reply = client.Post("/v1/report", {{"Authorization", "Munge " + credential}}, body,
                                   "application/json");
    return reply ? reply->status : 0;
  };
  const auto body = [](const std::string& node) {
    return json{{"node", node}, {"stream", "test"}, {"items", json::array()}}.dump();
  };
  const auto sealed = [&](const std::string& node, const std::string& text) {
    return *seals.seal("acrf-report " + node + " " + hub::sha256_hex(text));
  };
  const auto credential = sealed("n1", body("n1"));
  EXPECT_EQ(post(credential, body("n1")), 200);
  EXPECT_EQ(post(credential, body("n1")), 401);                      // replayed
  EXPECT_EQ(post(sealed("n1", body("n2")), body("n2")), 403);        // another node's name
  EXPECT_EQ(post(sealed("n3", body("n3")), body("n3")), 403);        // a node that is not there
  EXPECT_EQ(post(sealed("n1", body("n1")), body("n1") + " "), 401);  // another body
  EXPECT_EQ(post("MUNGE:abc:", body("n1")), 401);
}

}  // namespace
}  // namespace acrf::minicluster
