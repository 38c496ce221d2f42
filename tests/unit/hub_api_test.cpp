// SPDX-License-Identifier: GPL-2.0-or-later
// The hub's API on a loopback port, asked by a real HTTP client: what it answers, to whom, and what
// it does about those who ask badly.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>

#include "unit/hub_fixture.h"

namespace acrf::hub {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST_F(HubApi, ShowsTheFleet) {
  const auto fleet = get("/v1/fleet");
  EXPECT_EQ(fleet["cluster"], "test");
  EXPECT_EQ(fleet["states"].size(), 10u);
  EXPECT_EQ(fleet["pods"][0]["leaves"][0]["nodes"], json({"n1", "n2"}));
  EXPECT_EQ(fleet["node_state"].get<std::string>().size(), 3u);
  EXPECT_EQ(fleet["gpu_count"], 2);
  EXPECT_EQ(fleet["gpu_state"].get<std::string>().size(), 6u);
  EXPECT_EQ(fleet["jobs"][0]["id"], 7);
  EXPECT_EQ(fleet["jobs"][0]["nodes"], json({{0, 2}}));
}

TEST_F(HubApi, ListsNodesByStateLeafAndPage) {
  EXPECT_EQ(get("/v1/nodes")["nodes"].size(), 3u);
  EXPECT_EQ(get("/v1/nodes?leaf=leaf2")["nodes"][0]["name"], "n3");
  const auto drained = get("/v1/nodes?state=drained")["nodes"];
  ASSERT_EQ(drained.size(), 1u);
  EXPECT_EQ(drained[0]["name"], "n3");
  EXPECT_EQ(drained[0]["reason"], "ACRF: gpu_lost 0000:1a:00 reboot_node [n3-1]");
  EXPECT_EQ(get("/v1/nodes?limit=1")["nodes"][0]["name"], "n1");
  EXPECT_EQ(get("/v1/nodes?limit=1&after=n1")["nodes"][0]["name"], "n2");
  EXPECT_EQ(get("/v1/nodes?after=n3")["nodes"].size(), 0u);
}

TEST_F(HubApi, ShowsANodeWithItsGpus) {
  const auto node = get("/v1/nodes/n1");
  EXPECT_EQ(node["driver"], "570.86.10");
  ASSERT_EQ(node["gpus"].size(), 2u);
  EXPECT_EQ(node["gpus"][0]["uuid"], "GPU-1");
  EXPECT_EQ(node["gpus"][0]["temperature_c"], 41);
  EXPECT_TRUE(node["gpus"][0]["memory_temperature_c"].is_null());
  EXPECT_EQ(node["jobs"], json({7}));
  EXPECT_EQ(get("/v1/gpus/GPU-1")["node"], "n1");
  EXPECT_EQ(get("/v1/gpus?limit=1&after=GPU-1")["gpus"][0]["uuid"], "GPU-2");
}

TEST_F(HubApi, ShowsAnIncidentsWholeWay) {
  EXPECT_EQ(get("/v1/incidents")["incidents"][0]["id"], "n3-1");
  EXPECT_EQ(get("/v1/incidents?node=n1")["incidents"].size(), 0u);
  EXPECT_EQ(get("/v1/incidents?open=true&class=gpu_lost")["incidents"].size(), 1u);
  const auto trace = get("/v1/incidents/n3-1")["trace"];
  std::vector<std::string> way;
  for (const auto& step : trace)
    way.push_back(step["part"].get<std::string>() + " " + step["what"].get<std::string>());
  EXPECT_THAT(way, ElementsAre("healthd opened", "slurmctld drain", "slurmctld reason",
                               "slurmctld requeue", "job restart"));
  for (std::size_t i = 1; i < trace.size(); ++i)
    EXPECT_GE(trace[i]["unix_ms"].get<std::int64_t>(), trace[i - 1]["unix_ms"].get<std::int64_t>());
}

TEST_F(HubApi, ShowsJobsTheirLivesAndTheQueue) {
  EXPECT_EQ(get("/v1/jobs")["jobs"].size(), 2u);
  EXPECT_EQ(get("/v1/jobs?state=pending")["jobs"][0]["id"], 8);
  EXPECT_EQ(get("/v1/jobs?after=7")["jobs"][0]["id"], 8);
  EXPECT_EQ(get("/v1/queue")["jobs"][0]["reason"], "Resources");
  const auto job = get("/v1/jobs/7");
  EXPECT_GT(job["wall_s"].get<double>(), 0);
  std::string told;
  for (const auto& event : job["timeline"]) told += event["what"].get<std::string>() + " ";
  EXPECT_THAT(told, AllOf(HasSubstr("started"), HasSubstr("requeue")));
}

TEST_F(HubApi, ShowsAuditBrakesStatsAndStatus) {
  const auto audit = get("/v1/audit?incident=n3-1")["audit"];
  ASSERT_EQ(audit.size(), 2u);
  EXPECT_EQ(get("/v1/audit?limit=1&after=" + audit[0]["row"].dump())["audit"][0]["row"],
            audit[1]["row"]);
  EXPECT_TRUE(get("/v1/brakes")["brakes"].is_array());
  EXPECT_EQ(get("/v1/stats")["nodes"]["drained"], 1);
  const auto status = get("/v1/status");
  EXPECT_EQ(status["mode"], "enforce");
  EXPECT_EQ(status["access"]["name"], "loopback");
  EXPECT_EQ(status["access"]["may_act"], false);
  EXPECT_EQ(get("/v1/status", admin())["access"]["may_act"], true);
  EXPECT_EQ(get("/healthz")["status"], "ok");
}

TEST_F(HubApi, ShowsHistory) {
  const auto history = get("/v1/nodes/n1/history?metric=temperature_c&gpu=0");
  EXPECT_EQ(history["metric"], "temperature_c");
  EXPECT_TRUE(history["points"].is_array());
}

TEST_F(HubApi, CountsForPrometheus) {
  post("/v1/actions", R"({"action":"drain","node":"n1"})", admin());
  const auto text = http().Get("/metrics")->body;
  EXPECT_THAT(text, AllOf(HasSubstr("acrf_nodes{state=\"drained\"} 1"),
                          HasSubstr("acrf_incidents_total{class=\"gpu_lost\"} 1"),
                          HasSubstr("acrf_drained_nodes{class=\"gpu_lost\"} 1"),
                          HasSubstr("acrf_recovery_seconds_bucket"),
                          HasSubstr("acrf_hub_actions_total{action=\"drain\",result=\"done\"} 1")));
}

TEST_F(HubApi, CountsPlacementsAndSaysHowLateAndHowUsefulAllIs) {
  const auto metrics = [&] { return http().Get("/metrics")->body; };
  EXPECT_THAT(metrics(), Not(AnyOf(HasSubstr("acrf_placement_"), HasSubstr("acrf_ettr_ratio"))));
  directory_.write("decisions",
                   "{\"outcome\":\"placed\",\"plan_us\":50}\nno JSON\n"
                   "{\"outcome\":\"no-plan\",\"plan_us\":2000000}\n{\"outcome\":\"refused\"}\n");
  Report late;
  late.node = "n2";
  late.stream = "s";
  late.items = {{1, now_ms_ - 3000, ReportedSample{}}};
  take(late);
  JobLook came_back, went_through;
  came_back.id = 7;
  came_back.restarts = 1;
  came_back.ettr = 0.75;
  went_through.id = 8;
  went_through.ettr = 1;
  for (auto* job : {&came_back, &went_through}) job->state = "RUNNING";
  model_.take_jobs({came_back, went_through});
  EXPECT_THAT(metrics(), AllOf(HasSubstr("acrf_placement_decisions_total{outcome=\"placed\"} 1\n"),
                               HasSubstr("acrf_placement_decisions_total{outcome=\"refused\"} 1\n"),
                               HasSubstr("acrf_placement_fallbacks_total 2\n"),
                               HasSubstr("acrf_placement_seconds_bucket{le=\"0.0001\"} 1\n"),
                               HasSubstr("acrf_placement_seconds_count 2\n"),
                               HasSubstr("acrf_ettr_ratio 0.75\n"),
                               HasSubstr("acrf_hub_lag_seconds{quantile=\"0.99\"} 3\n")));
}

TEST_F(HubApi, SaysWhichParameterIsWrong) {
  const struct {
    const char *path, *sentence;
    int status;
  } wrong[] = {{"/v1/nodes?state=sick", "state:", 400},
               {"/v1/nodes?limit=0", "limit:", 400},
               {"/v1/nodes?limit=1001", "limit:", 400},
               {"/v1/nodes?limit=x", "limit:", 400},
               {"/v1/nodes?after=n9", "after:", 400},
               {"/v1/incidents?open=perhaps", "open:", 400},
               {"/v1/incidents?since=-1", "since:", 400},
               {"/v1/jobs/abc", "no job's number", 400},
               {"/v1/jobs/99999999999", "no job's number", 400},
               {"/v1/nodes/n1/history?metric=mood", "metric:", 400},
               {"/v1/nodes/n1/history?metric=power_w&from=5&to=4", "from:", 400},
               {"/v1/nodes/n1/history?metric=power_w&gpu=64", "gpu:", 400},
               {"/v1/nodes/n9", "there is no node n9", 404},
               {"/v1/gpus/none", "there is no GPU", 404},
               {"/v1/incidents/none", "there is no incident", 404},
               {"/v1/jobs/9", "no job 9", 404},
               {"/v1/sim", "no simulator", 404},
               {"/v1/nothing", "nothing at this path", 404},
               {"/nothing", "nothing at this path", 404}};
  for (const auto& one : wrong) {
    const auto reply = http().Get(one.path);
    ASSERT_TRUE(reply) << one.path;
    EXPECT_EQ(reply->status, one.status) << one.path;
    EXPECT_THAT(json::parse(reply->body)["error"].get<std::string>(), HasSubstr(one.sentence))
        << one.path;
  }
}

TEST_F(HubApi, EveryPathOfDataNeedsACredential) {
  // Connections in a test are from this host: another host name stands for another host.
  const httplib::Headers foreign = {{"Host", "hub.example"}};
  for (const char* path :
       {"/v1/fleet", "/v1/status", "/v1/stats", "/v1/nodes", "/v1/nodes/n1",
        "/v1/nodes/n1/history?metric=power_w", "/v1/gpus", "/v1/gpus/GPU-1", "/v1/incidents",
        "/v1/incidents/n3-1", "/v1/jobs", "/v1/jobs/7", "/v1/queue", "/v1/audit", "/v1/brakes",
        "/v1/events", "/v1/sim", "/metrics", "/v1/unheard-of"}) {
    EXPECT_EQ(status(path, foreign), 403) << path;
    EXPECT_EQ(status(path, {{"Authorization", "Bearer acrf_wrong"}}), 401) << path;
    EXPECT_EQ(status(path, {{"Authorization", "Bearer " + expired_}}), 401) << path;
    EXPECT_EQ(status(path, {{"Authorization", "Basic dXNlcjpwYXNz"}}), 401) << path;
    EXPECT_EQ(status(path, {{"Authorization", "Munge 0 x"}}), 401) << path;
  }
  EXPECT_EQ(status("/v1/fleet", {{"Host", "hub.example"}, {"Authorization", "Bearer " + reader_}}),
            200);
  EXPECT_EQ(status("/healthz", foreign), 200);
}

TEST_F(HubApi, ActingNeedsAnAdminsCredential) {
  const std::string body = R"({"action":"drain","node":"n1","reason":"fan"})";
  for (const char* path : {"/v1/actions", "/v1/sim"}) {
    EXPECT_EQ(post(path, body, {}).first, 401) << path;
    EXPECT_EQ(post(path, body, {{"X-ACRF-Confirm", "yes"}}).first, 401) << path;
    EXPECT_EQ(post(path, body, {{"Authorization", "Bearer acrf_wrong"}}).first, 401) << path;
    EXPECT_EQ(post(path, body, {{"Authorization", "Bearer " + expired_}}).first, 401) << path;
    EXPECT_EQ(post(path, body, {{"Authorization", "Bearer " + reader_}}).first, 403) << path;
  }
  EXPECT_EQ(post("/v1/actions", body, munge(1000, body)).first, 403);
  EXPECT_EQ(post("/v1/actions", body, munge(0, body + " ")).first, 401);
  EXPECT_TRUE(acts_.empty());
  EXPECT_EQ(post("/v1/actions", body, admin()).first, 200);
  const auto [code, answer] = post("/v1/actions", body, munge(0, body));
  EXPECT_EQ(code, 200);
  EXPECT_EQ(answer["result"], "done");
  EXPECT_THAT(acts_, ElementsAre("drain n1 fan by token ops", "drain n1 fan by user 0"));
}

TEST_F(HubApi, RefusesMalformedActions) {
  const struct {
    const char *body, *sentence;
    int status;
  } wrong[] = {{"", "JSON object", 400},
               {"[]", "JSON object", 400},
               {"{\"action\":", "JSON object", 400},
               {R"({"action":"reboot","node":"n1"})", "action:", 400},
               {R"({"action":7,"node":"n1"})", "action:", 400},
               {R"({"action":"drain"})", "needs a node", 400},
               {R"({"action":"drain","node":"n1","gpu":1})", "is of a node", 400},
               {R"({"action":"quarantine","node":"n1"})", "GPU's number", 400},
               {R"({"action":"quarantine","node":"n1","gpu":-1})", "gpu:", 400},
               {R"({"action":"quarantine","node":"n1","gpu":64})", "gpu:", 400},
               {R"({"action":"drain","node":"n1","reason":"a\nb"})", "reason:", 400},
               {R"({"action":"drain","node":"n1","force":true})", "force:", 400},
               {R"({"action":"drain","node":"n9"})", "no node n9", 404},
               {R"({"action":"inject","node":"n1","fault":"lost"})", "test cluster", 403},
               {R"({"action":"inject","node":"n1","fault":"flood"})", "no fault", 400}};
  for (const auto& one : wrong) {
    const auto [code, answer] = post("/v1/actions", one.body, admin());
    EXPECT_EQ(code, one.status) << one.body;
    EXPECT_THAT(answer["error"].get<std::string>(), HasSubstr(one.sentence)) << one.body;
  }
  EXPECT_TRUE(acts_.empty());
}

TEST_F(HubApi, RefusesBodiesThatAreTooLargeOrEncoded) {
  const std::string large(5'000'000, ' ');
  for (const char* path : {"/v1/actions", "/v1/report", "/v1/sim"}) {
    const auto code = post(path, large, admin()).first;
    EXPECT_TRUE(code == 413 || code == 0) << path << " " << code;  // 0: the connection was closed
    EXPECT_EQ(
        post(path, "{}", {{"Authorization", "Bearer " + admin_}, {"Content-Encoding", "gzip"}})
            .first,
        415)
        << path;
  }
  EXPECT_TRUE(acts_.empty());
  EXPECT_EQ(status("/v1/stats"), 200) << "and goes on";
}

TEST_F(HubApi, HandsReportsOn) {
  const std::string body = R"({"node":"n1","stream":"t","items":[]})";
  const auto [code, answer] = post(
      "/v1/report", body,
      {{"Authorization", "Munge 0 acrf-report n1 " + sha256_hex(body)}});
  EXPECT_EQ(code, 200) << answer;
  EXPECT_EQ(answer["accepted"], 0);
  EXPECT_EQ(post("/v1/report", body, {}).first, 401);
}

TEST_F(HubApi, LeavesAClientThatSendsSlowly) {
  limits_.connection.request = std::chrono::milliseconds(300);
  restart();
  const auto slow = connect();
  const std::string start = "GET /v1/stats HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
  ASSERT_EQ(::send(slow.get(), start.data(), start.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(start.size()));
  // A byte now and then keeps single reads alive, and not the request.
  const auto closed = std::async(std::launch::async, [&] {
    while (::send(slow.get(), "x", 1, MSG_NOSIGNAL) == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return true;
  });
  EXPECT_EQ(closed.wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

TEST_F(HubApi, SlowClientsDoNotKeepOthersOut) {
  limits_.threads = 4;
  limits_.connection.idle = std::chrono::milliseconds(300);
  restart();
  std::vector<UniqueFd> idle;
  for (int i = 0; i < 30; ++i) idle.push_back(connect());
  EXPECT_EQ(status("/v1/stats"), 200);
}

TEST_F(HubApi, EndlessHeadersAreCutOff) {
  limits_.connection.request_bytes = 100'000;
  restart();
  const auto greedy = connect();
  std::string text = "GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n";
  bool open = true;
  for (int i = 0; open && i < 100'000; ++i) {
    open = ::send(greedy.get(), text.data(), text.size(), MSG_NOSIGNAL) > 0;
    text = "X-" + std::to_string(i) + ": " + std::string(1000, 'x') + "\r\n";
  }
  EXPECT_FALSE(open);
}

TEST_F(HubApi, SlowsDownWhoAsksTooOften) {
  api_limits_.requests_per_s = 0.1;
  api_limits_.request_burst = 0.5;  // five from this host
  restart();
  std::vector<int> codes;
  for (int i = 0; i < 6; ++i) codes.push_back(status("/v1/stats"));
  EXPECT_THAT(codes, ElementsAre(200, 200, 200, 200, 200, 429));
}

TEST_F(HubApi, SlowsDownWhoGuesses) {
  api_limits_.failure_burst = 3;
  api_limits_.failures_per_s = 0.01;
  restart();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(status("/v1/stats", {{"Authorization", "Bearer guess"}}), 401);
  EXPECT_EQ(status("/v1/stats", {{"Authorization", "Bearer guess"}}), 429);
  EXPECT_EQ(status("/v1/stats", {{"Authorization", "Bearer " + reader_}}), 429);
}

TEST_F(HubApi, TellsChangesAsTheyHappen) {
  Follower follower(port_);
  ASSERT_TRUE(follower.waits_for("still here"));
  model_.feed().publish("incident", R"({"id":"n2-1"})");
  EXPECT_TRUE(follower.waits_for("event: incident\ndata: {\"id\":\"n2-1\"}\n\n"));
}

TEST_F(HubApi, TakesUpWhereAFollowerWas) {
  const auto before = model_.feed().publish("job", "1");
  model_.feed().publish("job", "2");
  Follower follower(port_, std::to_string(before));
  EXPECT_TRUE(
      follower.waits_for("id: " + std::to_string(before + 1) + "\nevent: job\ndata: 2\n\n"));
  EXPECT_THAT(follower.text(), testing::Not(HasSubstr("data: 1\n")));
  Follower lost(port_, "999999999");
  EXPECT_TRUE(lost.waits_for("event: reset"));
  EXPECT_EQ(status("/v1/events", {{"Last-Event-ID", "x"}}), 400);
}

TEST_F(HubApi, HasABoundedNumberOfFollowers) {
  api_limits_.followers = 2;
  restart();
  Follower one(port_), two(port_);
  ASSERT_TRUE(one.waits_for("still here") && two.waits_for("still here"));
  EXPECT_EQ(status("/v1/events"), 503);
  one.end();
  EXPECT_TRUE(comes_true([&] {
    model_.feed().publish("job", "1");  // who has gone is noticed by what is sent
    Follower again(port_);
    return again.waits_for("still here", std::chrono::milliseconds(500));
  }));
}

TEST_F(HubApi, StopsThoughSomebodyFollows) {
  Follower follower(port_);
  ASSERT_TRUE(follower.waits_for("still here"));
  stop();
  EXPECT_TRUE(follower.has_ended());
}

TEST_F(HubApi, ServesThePageAndNothingBesideIt) {
  directory_.write("web/index.html", "<title>ACRF</title>");
  directory_.write("secret", "x");
  restart();
  const auto page = http().Get("/", {{"Host", "hub.example"}});
  ASSERT_TRUE(page);
  EXPECT_THAT(page->body, HasSubstr("ACRF"));
  EXPECT_THAT(page->get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  EXPECT_EQ(status("/../secret"), 404);
  EXPECT_EQ(status("/%2e%2e/secret"), 404);
}

TEST_F(HubApi, ListensToOthersOnlyWithACertificate) {
  Config config;
  EXPECT_TRUE(check_listen_address(*parse_listen_address("127.0.0.1:6822"), config).ok());
  EXPECT_TRUE(check_listen_address(*parse_listen_address("[::1]:6822"), config).ok());
  for (const char* listen : {"0.0.0.0:6822", "[::]:6822", "192.0.2.1:6822"}) {
    const auto refused = check_listen_address(*parse_listen_address(listen), config);
    ASSERT_FALSE(refused.ok()) << listen;
    EXPECT_THAT(refused.error().sentence, HasSubstr("set HubCertificate"));
  }
  config.hub_certificate = "/etc/acrf/hub.pem";
  EXPECT_TRUE(check_listen_address(*parse_listen_address("0.0.0.0:6822"), config).ok());
  for (const char* listen : {"", "6822", "host", "host:", "host:99999", ":6822", "host:x"})
    EXPECT_FALSE(parse_listen_address(listen)) << listen;
}

TEST_F(HubApi, SpeaksTlsWithACertificate) {
  make_certificate();
  restart();
  httplib::SSLClient client("127.0.0.1", port_);
  client.enable_server_certificate_verification(false);
  const auto reply = client.Get("/v1/stats");
  ASSERT_TRUE(reply) << httplib::to_string(reply.error());
  EXPECT_EQ(reply->status, 200);
  const auto plain = httplib::Client("127.0.0.1", port_).Get("/v1/stats");
  EXPECT_TRUE(!plain || plain->status != 200) << "nothing in the clear";
  const auto missing = load_certificate("/nowhere/a.pem", "/nowhere/b.pem");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().sentence, HasSubstr("HubCertificate /nowhere/a.pem"));
}

// Every path of openapi.json, asked for real, and each answer against its schema.
TEST_F(HubApi, AnswersAsTheDescriptionSays) {
  const auto command = "python3 " ACRF_SOURCE "/tests/unit/openapi_check.py http://127.0.0.1:" +
                       std::to_string(port_) + " " + admin_ + " 2>&1";
  std::string output;
  FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  char buffer[4096];
  while (::fgets(buffer, sizeof buffer, pipe)) output += buffer;
  EXPECT_EQ(::pclose(pipe), 0) << output;
  EXPECT_THAT(output, HasSubstr("paths are as described"));
}

}  // namespace
}  // namespace acrf::hub
