// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-hub on a real cluster: what an admin does through it is done in Slurm and written down, what
// is others' stays theirs, and an incident can be followed from the GPU to the job's restart.
#include <gmock/gmock.h>
#include <httplib.h>

#include <nlohmann/json.hpp>

#include "build_paths.h"
#include "common/munge.h"
#include "common/signature.h"
#include "common/slurm_conf_file.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class HubApiLive : public LiveCluster {
 protected:
  void start_with_hub(ClusterOptions options) {
    options.hubs = 1;
    start(options);
    ASSERT_TRUE(wait_until([&] { return get("/healthz").value("status", "") == "ok"; }));
  }
  httplib::Client client() {
    httplib::Client client(cluster().hub_url());
    client.set_read_timeout(60);
    return client;
  }
  json get(const std::string& path) {
    const auto reply = client().Get(path);
    return reply ? json::parse(reply->body, nullptr, false) : json::object();
  }
  json post(const json& action, const httplib::Headers& headers) {
    const auto reply = client().Post("/v1/actions", headers, action.dump(), "application/json");
    if (!reply) return {{"error", "no answer"}};
    return json::parse(reply->body, nullptr, false);
  }
  // With a munge credential of root's.
  json act(const json& action) {
    const auto seals = munge_seals(munge_socket_in(slurm_conf_value(root_ + "/etc", "AuthInfo")));
    const auto sealed = seals.seal("acrf-action " + to_hex(sha256(action.dump())));
    EXPECT_TRUE(sealed.ok()) << sealed.error().sentence;
    return post(action, {{"Authorization", "Munge " + *sealed}});
  }
  // The newest audit entry about the node with this word, when it is there.
  json audit(const std::string& node, const std::string& what) {
    json found;
    wait_until([&] {
      const auto answer = get("/v1/audit?node=" + node);
      for (const auto& entry : answer["audit"])
        if (found.is_null() && entry["what"] == what) found = entry;
      return !found.is_null();
    });
    return found;
  }
};

TEST_F(HubApiLive, AnAdminDrainsAndReturnsANode) {
  start_with_hub(small());
  EXPECT_THAT(post({{"action", "drain"}, {"node", "n1"}}, {})["error"].get<std::string>(),
              HasSubstr("acting needs"));
  EXPECT_FALSE(node("n1").drained);
  const auto drained = act({{"action", "drain"}, {"node", "n1"}, {"reason", "bad fan"}});
  EXPECT_EQ(drained["result"], "done") << drained;
  EXPECT_TRUE(node("n1").drained);
  EXPECT_THAT(record("n1"), HasSubstr("acrf drain: bad fan (user 0)"));
  const auto entry = audit("n1", "drain");
  EXPECT_EQ(entry["kind"], "admin");
  EXPECT_EQ(entry["id"], drained["audit"]);
  EXPECT_EQ(entry["result"], "done");
  EXPECT_TRUE(wait_until([&] { return get("/v1/nodes/n1")["state"] == "drained"; }));
  EXPECT_EQ(act({{"action", "drain"}, {"node", "n1"}})["result"], "skipped");
  EXPECT_EQ(act({{"action", "return"}, {"node", "n1"}})["result"], "done");
  EXPECT_FALSE(node("n1").drained);
  EXPECT_EQ(act({{"action", "return"}, {"node", "n1"}})["result"], "skipped");
}

TEST_F(HubApiLive, AnothersDrainIsLeftAlone) {
  start_with_hub(small());
  ASSERT_TRUE(
      cluster().run({"scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=mine"}).ok());
  for (const char* action : {"drain", "return"}) {
    const auto outcome = act({{"action", action}, {"node", "n2"}});
    EXPECT_EQ(outcome["result"], "skipped") << outcome;
    EXPECT_THAT(outcome["text"].get<std::string>(), HasSubstr("mine"));
  }
  EXPECT_TRUE(node("n2").drained);
  EXPECT_THAT(record("n2"), HasSubstr("Reason=mine"));
  EXPECT_EQ(audit("n2", "return")["result"], "skipped");
}

TEST_F(HubApiLive, AGpuIsHiddenAndShownAgain) {
  start_with_hub(small());
  EXPECT_EQ(act({{"action", "quarantine"}, {"node", "n1"}, {"gpu", 1}})["result"], "done");
  EXPECT_THAT(record("n1"), HasSubstr("acrf:gpus=1"));
  EXPECT_EQ(act({{"action", "quarantine"}, {"node", "n1"}, {"gpu", 63}})["result"], "skipped");
  EXPECT_EQ(act({{"action", "clear"}, {"node", "n1"}, {"gpu", 1}})["result"], "done");
  EXPECT_THAT(record("n1"), testing::Not(HasSubstr("acrf:gpus=1")));
  EXPECT_EQ(act({{"action", "brakes-reset"}})["result"], "skipped");
}

TEST_F(HubApiLive, ReturningWhatAcrfHoldsEndsItsCase) {
  auto options = small();
  options.acrf_conf = "TestProgram=none\nRebootProgram=none\n";
  start_with_hub(options);
  const auto started = std::time(nullptr);  // see UndoLive
  ASSERT_TRUE(wait_until([&] { return std::time(nullptr) > started; }));
  inject("n1");
  ASSERT_TRUE(healthd_says("n1", "-> attended"));
  EXPECT_EQ(act({{"action", "return"}, {"node", "n1"}})["result"], "done");
  EXPECT_FALSE(node("n1").drained);
  EXPECT_TRUE(healthd_says("n1", "-> taken_over"));
}

TEST_F(HubApiLive, OnATestClusterThisHostMayInject) {
  auto options = small();
  options.hub_arguments = {"--test-cluster"};
  start_with_hub(options);
  const json lose = {{"action", "inject"}, {"node", "n1"}, {"gpu", 0}, {"fault", "xid:79"}};
  EXPECT_THAT(post(lose, {})["error"].get<std::string>(), HasSubstr("X-ACRF-Confirm"));
  EXPECT_EQ(post(lose, {{"X-ACRF-Confirm", "yes"}})["result"], "done");
  EXPECT_TRUE(wait_until([&] { return node("n1").drained; }));
}

TEST_F(HubApiLive, AnIncidentIsFollowedFromTheFaultToTheRestart) {
  start_with_hub(small());
  const auto id = train();
  inject("n1");
  ASSERT_TRUE(runs_again(id, 1));
  std::string way;
  EXPECT_TRUE(wait_until([&] {
    const auto incidents = get("/v1/incidents?node=n1")["incidents"];
    if (incidents.empty()) return false;
    way.clear();
    const auto incident = get("/v1/incidents/" + incidents[0]["id"].get<std::string>());
    for (const auto& step : incident["trace"])
      way += step["part"].get<std::string>() + ":" + step["what"].get<std::string>() + " ";
    // The hub hears of these from several sides, in no order.
    return testing::Value(way, AllOf(HasSubstr("healthd:opened"), HasSubstr("slurmctld:drain"),
                                     HasSubstr("slurmctld:reason"), HasSubstr("slurmctld:requeue"),
                                     HasSubstr("job:restart")));
  })) << way;
}

TEST_F(HubApiLive, AnswersAsItsDescriptionSays) {
  start_with_hub(small());
  // The check asks about the first of each; a GPU that was not looked at yet has no UUID.
  ASSERT_TRUE(wait_until([&] {
    const auto gpus = get("/v1/gpus")["gpus"];
    return !gpus.empty() && !gpus[0]["uuid"].get<std::string>().empty();
  }));
  const auto token =
      cluster().run({ACRF_STAGE "/usr/sbin/acrf-hub", "-f", root_ + "/etc/acrf-hub-1.conf", "token",
                     "add", "test", "--role", "admin", "--days", "1"});
  ASSERT_TRUE(token.ok()) << token.errors;
  const auto secret = token.output.substr(0, token.output.find('\n'));
  const auto checked = cluster().run(
      {"python3", ACRF_SOURCE "/tests/unit/openapi_check.py", cluster().hub_url(), secret});
  EXPECT_TRUE(checked.ok()) << checked.output << checked.errors;
  EXPECT_THAT(checked.output, HasSubstr("are as described"));
}

}  // namespace
}  // namespace acrf::minicluster
