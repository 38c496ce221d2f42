// SPDX-License-Identifier: GPL-2.0-or-later
// What is written down and told: a damaged audit log or a dead endpoint never delays an act.
#include <gmock/gmock.h>

#include <filesystem>

#include "common/file.h"
#include "live_cluster.h"
#include "unit/http_endpoint.h"

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class Report : public LiveCluster {
 protected:
  std::string state(const std::string& node) const { return root_ + "/nodes/" + node + "/acrf"; }
  std::string audit(const std::string& node) {
    return cluster().run({"acrf", "audit", "--json", "--state-dir", state(node)}).output;
  }
  int set_aside(const std::string& node) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(state(node)))
      count += entry.path().filename().string().rfind("audit.db.bad-", 0) == 0;
    return count;
  }
};

TEST_F(Report, ADamagedAuditLogIsSetAsideAndStopsNoDrain) {
  start(small());
  ASSERT_TRUE(cluster().kill("healthd-n1").ok());
  // A journal too, if it was killed at its very start: it would make the file as it was before.
  for (const char* companion : {"audit.db-wal", "audit.db-shm", "audit.db-journal"})
    fs::remove(state("n1") + "/" + companion);
  ASSERT_TRUE(write_file(state("n1") + "/audit.db", std::string(20'000, 'x')).ok());
  ASSERT_TRUE(cluster().start_healthd("n1").ok());
  inject("n1");
  EXPECT_TRUE(wait_until([&] { return node("n1").drained; }));
  EXPECT_TRUE(wait_until([&] { return audit("n1").find("\"drain\"") != std::string::npos; }));
  EXPECT_EQ(set_aside("n1"), 1);
}

TEST_F(Report, ADeadEndpointDelaysNothingAndIsToldWhenItIsBack) {
  const Endpoint silent("", false);  // takes the connection and says nothing
  int port = 0;
  {
    const Endpoint gone(http("ok"));
    port = gone.port();
  }
  const auto dead = "http://127.0.0.1:" + std::to_string(port) + "/hook";
  auto options = small();
  options.acrf_conf = "Notify=silent Type=webhook Severity=info Url=" + silent.url() +
                      "\nNotify=dead Type=webhook Severity=info Url=" + dead + "\n";
  start(options);
  const auto id = train();
  const auto broken = job(id).nodes.front();
  inject(broken);
  ASSERT_TRUE(runs_again(id, 1));
  EXPECT_TRUE(node(broken).drained);
  ASSERT_TRUE(wait_until([&] { return silent.requests() > 0; }));
  Endpoint back([](int, const std::string&) { return http("ok"); }, port);
  ASSERT_TRUE(wait_until([&] {
    for (const auto& request : back.all())
      if (request.find("\"state\":\"drained\"") != std::string::npos) return true;
    return false;
  }));
  EXPECT_THAT(back.all().front(), AllOf(HasSubstr("POST /hook"), HasSubstr(broken)));
}

}  // namespace
}  // namespace acrf::minicluster
