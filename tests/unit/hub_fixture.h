// SPDX-License-Identifier: GPL-2.0-or-later
// A hub without Slurm: its API over a filled Model, on a port of this host.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <thread>

#include "build_paths.h"
#include "common/signature.h"
#include "hub/http/api.h"
#include "hub/http/guarded_server.h"
#include "hub/http/server.h"
#include "hub/ingest.h"
#include "hub/store.h"
#include "unit/temporary_directory.h"

namespace acrf::hub {

// Until it is true, or for half a minute.
inline bool comes_true(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

// Somebody who follows /v1/events.
class Follower {
 public:
  explicit Follower(int port, const std::string& last = "") : client_("127.0.0.1", port) {
    client_.set_read_timeout(30);
    httplib::Headers headers;
    if (!last.empty()) headers.emplace("Last-Event-ID", last);
    thread_ = std::thread([this, headers] {
      client_.Get("/v1/events", headers, [this](const char* data, std::size_t size) {
        const std::lock_guard lock(mutex_);
        text_.append(data, size);
        return !ending_;
      });
      ended_ = true;
    });
  }
  ~Follower() { end(); }

  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  bool waits_for(const std::string& text,
                 std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (this->text().find(text) == std::string::npos) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  bool has_ended() {
    return comes_true([this] { return ended_.load(); });
  }
  void end() {
    ending_ = true;
    client_.stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  httplib::Client client_;
  std::mutex mutex_;
  std::string text_;
  std::atomic<bool> ending_{false}, ended_{false};
  std::thread thread_;
};

class HubApi : public testing::Test {
 protected:
  void SetUp() override {
    fill();
    start();
  }
  void TearDown() override { stop(); }

  void start() {
    TlsContext tls(nullptr, SSL_CTX_free);
    if (!certificate_.empty())
      tls =
          TlsContext(load_certificate(certificate_, certificate_).value().release(), SSL_CTX_free);
    server_ = std::make_unique<GuardedServer>(limits_, std::move(tls));
    std::error_code error;
    const auto web = directory_.path("web");
    api_ = std::make_unique<Api>(
        ApiParts{model_, history_, credentials_, actions_,
                 [this](const std::string& authorization, const std::string& body,
                        const std::string& peer) {
                   return ingest_.take(authorization, body, peer, now_ms_);
                 },
                 ACRF_SOURCE "/hub/openapi.json",
                 std::filesystem::is_directory(web, error) ? web : "", "",
                 directory_.path("decisions"), false},
        api_limits_);
    api_->add_to(*server_);
    const auto port = server_->bind("127.0.0.1", 0);
    ASSERT_TRUE(port.ok()) << port.error().sentence;
    port_ = *port;
    thread_ = std::thread([this] { server_->serve(); });
    ASSERT_TRUE(comes_true([this] { return server_->is_running(); }));
  }
  void stop() {
    if (!thread_.joinable()) return;
    api_->stop();
    server_->stop();
    thread_.join();
  }
  void restart() {
    stop();
    start();
  }

  // Three nodes on two leaves; n3 is drained by ACRF, and job 7 has come back from it.
  void fill() {
    ClusterLook look;
    look.cluster = "test";
    look.layout.names = {"n1", "n2", "n3"};
    look.layout.gpus = {2, 2, 2};
    look.layout.leaves = {{"leaf1", 0, 2}, {"leaf2", 2, 1}};
    look.layout.pods = {{"pod1", 0, 2}};
    look.layout.index();
    for (const char* name : {"n1", "n2", "n3"}) {
      FleetNode node;
      node.name = name;
      node.has_gpus = true;
      node.partitions = {"gpu"};
      look.fleet.nodes.push_back(node);
      look.slurm_states.push_back("IDLE");
      look.addresses.push_back("127.0.0.1");
      look.busy.push_back(false);
    }
    look.fleet.nodes[2].draining = true;
    look.fleet.nodes[2].reason = "ACRF: gpu_lost 0000:1a:00 reboot_node [n3-1]";
    look.slurm_states[2] = "IDLE+DRAIN";
    model_.take_cluster(std::move(look));
    take_jobs();
    take_reports();
  }
  void take_jobs() {
    JobLook runs;
    runs.id = 7;
    runs.name = "train";
    runs.state = "RUNNING";
    runs.nodes = "n[1-2]";
    runs.node_ranges = {{0, 2}};
    runs.gpus = 4;
    runs.restarts = 1;
    runs.submit_ms = now_ms_ - 40'000;
    runs.start_ms = (now_ms_ - 20'000) / 1000 * 1000;
    JobLook waits;
    waits.id = 8;
    waits.state = "PENDING";
    waits.reason = "Resources";
    waits.submit_ms = now_ms_ - 10'000;
    model_.take_jobs({runs, waits});
  }
  void take_reports() {
    Report report;
    report.node = "n1";
    report.boot = "b";
    report.stream = "s";
    report.version = "0.1.0";
    report.driver = "570.86.10";
    ReportedState state;
    state.verdict = "HEALTHY";
    state.state = PartState::kHealthy;
    for (int i = 0; i < 2; ++i)
      state.gpus.push_back({i, "GPU-" + std::to_string(i + 1), "0000:0" + std::to_string(i) + ":00",
                            "Fake", "nvidia", PartState::kHealthy});
    ReportedSample sample;
    GpuValues values;
    values.fill(kNoValue);
    values[0] = 41;
    sample.gpus = {values, values};
    report.items = {{1, now_ms_, state}, {2, now_ms_, sample}};
    take(report);
    ReportedIncident incident;
    incident.id = "n3-1";
    incident.node = "n3";
    incident.fault_class = "gpu_lost";
    incident.opened_ms = incident.updated_ms = now_ms_ - 50'000;
    incident.json = nlohmann::json{
        {"id", "n3-1"},
        {"node", "n3"},
        {"class", "gpu_lost"},
        {"action", "reboot_node"},
        {"where", "0000:1a:00"},
        {"opened_ms", now_ms_ - 50'000},
        {"updated_ms", now_ms_ - 50'000},
        {"closed_ms",
         nullptr}}.dump();
    Report sick;
    sick.node = "n3";
    sick.stream = "s";
    sick.items = {{1, now_ms_ - 50'000, incident},
                  {2, now_ms_ - 49'000, act(1, "drain", "n3", now_ms_ - 49'000)},
                  {3, now_ms_ - 48'000, act(2, "requeue", "job 7", now_ms_ - 48'000)}};
    take(sick);
    model_.take_incident(incident);
    ASSERT_TRUE(store_.flush(std::chrono::seconds(20)));
  }
  void take(Report report) {
    store_.take(report);
    ASSERT_TRUE(model_.take_report(report, now_ms_).ok());
  }
  static ReportedAudit act(int id, const std::string& what, const std::string& subject,
                           std::int64_t ms) {
    return {id, ms, "n3-1",
            nlohmann::json{{"id", id},
                           {"time_ms", ms},
                           {"finished_ms", ms + 5},
                           {"node", "n3"},
                           {"incident", "n3-1"},
                           {"kind", "act"},
                           {"what", what},
                           {"subject", subject},
                           {"decided_by", "gpu_lost"},
                           {"result", "done"}}
                .dump()};
  }

  httplib::Client& http() {
    client_ = std::make_unique<httplib::Client>("127.0.0.1", port_);
    return *client_;
  }
  nlohmann::json get(const std::string& path, const httplib::Headers& headers = {}) {
    const auto reply = http().Get(path, headers);
    EXPECT_TRUE(reply) << path;
    if (!reply) return {};
    EXPECT_EQ(reply->status, 200) << path << ": " << reply->body;
    return nlohmann::json::parse(reply->body, nullptr, false);
  }
  // 0: no answer.
  int status(const std::string& path, const httplib::Headers& headers = {}) {
    const auto reply = http().Get(path, headers);
    return reply ? reply->status : 0;
  }
  std::pair<int, nlohmann::json> post(const std::string& path, const std::string& body,
                                      const httplib::Headers& headers) {
    const auto reply = http().Post(path, headers, body, "application/json");
    if (!reply) return {0, {}};
    return {reply->status, nlohmann::json::parse(reply->body, nullptr, false)};
  }
  httplib::Headers admin() const { return {{"Authorization", "Bearer " + admin_}}; }
  static httplib::Headers munge(unsigned user, const std::string& body) {
    return {{"Authorization",
             "Munge " + std::to_string(user) + " acrf-action " + to_hex(sha256(body))}};
  }
  UniqueFd connect() const {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  void make_certificate() {
    certificate_ = directory_.path("hub.pem");
    const auto command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
        "-subj /CN=localhost -keyout " +
        certificate_ + " -out " + certificate_ + ".crt 2>/dev/null && cat " + certificate_ +
        ".crt >> " + certificate_;
    ASSERT_EQ(::system(command.c_str()), 0);
  }
  // "USER TEXT" stands for a munge credential.
  static Seals fake_seals() {
    Seals seals;
    seals.open = [](const std::string& credential) -> Result<SealedText> {
      const auto blank = credential.find(' ');
      if (blank == std::string::npos) return Error{ErrorCode::kUnavailable, "no credential"};
      return SealedText{credential.substr(blank + 1),
                        static_cast<std::uint32_t>(std::stoul(credential.substr(0, blank)))};
    };
    return seals;
  }

  const std::int64_t now_ms_ = unix_ms_now();
  TemporaryDirectory directory_;
  std::string reader_ = *add_token(directory_.path("tokens"), "watch", Role::kRead, 0);
  std::string admin_ = *add_token(directory_.path("tokens"), "ops", Role::kAdmin, 0);
  std::string expired_ = *add_token(directory_.path("tokens"), "old", Role::kAdmin, 1000);
  std::string certificate_;
  ServerLimits limits_;
  // Tests ask more often than people, and wrongly.
  ApiLimits api_limits_{1000, 10'000, 1000, 10'000, 64, 64};
  Model model_{"enforce"};
  Store store_{{history_path(directory_.path()), {}, std::chrono::milliseconds(10)}};
  History history_{history_path(directory_.path())};
  TokenFile tokens_{directory_.path("tokens")};
  Credentials credentials_{tokens_, fake_seals(), 64030, false};
  Ingest ingest_{model_, store_, fake_seals(), 64030};
  std::vector<std::string> acts_;
  Actions actions_ = [this](const ActionRequest& request, const std::string& by) -> AdminOutcome {
    acts_.push_back(request.action + " " + request.node +
                    (request.reason.empty() ? "" : " " + request.reason) + " by " + by);
    return {{1}, AuditResult::done("as asked")};
  };
  std::unique_ptr<GuardedServer> server_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<httplib::Client> client_;
  std::thread thread_;
  int port_ = 0;
};

}  // namespace acrf::hub
