// SPDX-License-Identifier: GPL-2.0-or-later
// Debian's Prometheus, as a site would run it, scrapes acrf-hub and a node's acrf-exporter.
#include <gmock/gmock.h>
#include <httplib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "build_paths.h"
#include "live_cluster.h"
#include "minicluster/ports.h"
#include "minicluster/process_space.h"

namespace acrf::minicluster {
namespace {

using nlohmann::json;

class PrometheusLive : public LiveCluster {
 protected:
  void TearDown() override {
    watchers_.reset();
    std::filesystem::remove_all(directory());
    LiveCluster::TearDown();
  }
  std::string directory() const { return root_ + "-prometheus"; }

  // Both beside the cluster, in a process space that ends with this test.
  void start_watchers() {
    const auto prometheus = find_command("prometheus");
    ASSERT_FALSE(prometheus.empty()) << "on Debian: apt-get install prometheus";
    std::filesystem::create_directories(directory());
    auto ports = claim_ports(2);
    ASSERT_TRUE(ports.ok()) << ports.error().sentence;
    ports_ = std::move(*ports);
    const auto exporter = "127.0.0.1:" + std::to_string(ports_.numbers[0]);
    const auto listen = "127.0.0.1:" + std::to_string(ports_.numbers[1]);
    write_config(exporter);
    auto space = ProcessSpace::create(directory());
    ASSERT_TRUE(space.ok()) << space.error().sentence;
    watchers_ = std::make_unique<ProcessSpace>(std::move(*space));
    const auto started = watchers_->start(
        "exporter",
        {ACRF_STAGE "/usr/sbin/acrf-exporter", "-f", root_ + "/etc/acrf.conf", "-N", "n1",
         "--listen", exporter},
        cluster().environment(), log());
    ASSERT_TRUE(started.ok()) << started.error().sentence;
    const auto scraping = watchers_->start(
        "prometheus",
        {prometheus, "--config.file=" + directory() + "/prometheus.yml",
         "--storage.tsdb.path=" + directory() + "/data", "--web.listen-address=" + listen},
        cluster().environment(), log());
    ASSERT_TRUE(scraping.ok()) << scraping.error().sentence;
  }
  void write_config(const std::string& exporter) {
    auto hub = cluster().hub_url();
    hub.erase(0, hub.find("//") + 2);
    std::ofstream(directory() + "/prometheus.yml")
        << "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
        << "rule_files: [" ACRF_SOURCE "/contrib/prometheus/acrf.rules.yml]\n"
        << "scrape_configs:\n"
        << "  - {job_name: acrf-hub, static_configs: [{targets: ['" << hub << "']}]}\n"
        << "  - {job_name: acrf-healthd, static_configs: [{targets: ['" << exporter << "']}]}\n";
  }
  std::string log() const { return directory() + "/log"; }

  // The value of a query that gives one; -1: it gives none, or Prometheus does not answer.
  double ask(const std::string& query) {
    httplib::Client client("127.0.0.1", ports_.numbers[1]);
    const auto reply =
        client.Get("/api/v1/query?query=" + httplib::detail::encode_query_param(query));
    if (!reply || reply->status != 200) return -1;
    const auto result = json::parse(reply->body)["data"]["result"];
    return result.size() == 1 ? std::stod(result[0]["value"][1].get<std::string>()) : -1;
  }
  bool becomes(const std::string& query, double value) {
    return wait_until([&] { return ask(query) == value; }, std::chrono::seconds(60));
  }

 private:
  Ports ports_;
  std::unique_ptr<ProcessSpace> watchers_;
};

TEST_F(PrometheusLive, ScrapesHubAndNodeAndSeesAFault) {
  auto options = small();
  options.hubs = 1;
  options.acrf_conf = "ReportInterval=1\n";
  start(options);
  start_watchers();
  for (const char* job : {"acrf-hub", "acrf-healthd"})
    ASSERT_TRUE(becomes("up{job=\"" + std::string(job) + "\"}", 1)) << text_of(log());
  EXPECT_TRUE(becomes("acrf_healthd_state{state=\"healthy\"}", 1));
  EXPECT_TRUE(becomes("sum(acrf_nodes)", options.nodes));
  EXPECT_EQ(ask("acrf_healthd_incidents_total{class=\"gpu_lost\"}"), -1);
  EXPECT_TRUE(becomes("acrf_healthd_probe_seconds_count{source=\"nvml\"} > bool 0", 1));

  inject("n1");
  EXPECT_TRUE(becomes("acrf_incidents_total{class=\"gpu_lost\"}", 1)) << text_of(log());
  EXPECT_TRUE(becomes("acrf_drained_nodes{class=\"gpu_lost\"}", 1));
  EXPECT_TRUE(becomes("acrf_drains_total{class=\"gpu_lost\"}", 1));
  EXPECT_TRUE(becomes("acrf_actions_total{action=\"drain\",result=\"done\"}", 1));
  EXPECT_TRUE(becomes("acrf_healthd_incidents_total{class=\"gpu_lost\"}", 1));
  EXPECT_TRUE(becomes("acrf_healthd_drains_total{class=\"gpu_lost\"}", 1));
  EXPECT_TRUE(becomes("acrf_healthd_actions_total{action=\"drain\",result=\"done\"}", 1));
  EXPECT_TRUE(becomes("acrf_healthd_verdict{verdict=\"critical\"}", 1));
  EXPECT_TRUE(becomes("acrf_healthd_state{state=\"healthy\"}", 0));
}

}  // namespace
}  // namespace acrf::minicluster
