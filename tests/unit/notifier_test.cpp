// SPDX-License-Identifier: GPL-2.0-or-later
// From tell() to a receiver on this host, through the spool and acrf-courier.
#include "notifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "build_paths.h"
#include "core/config.h"
#include "http_endpoint.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

using std::chrono::seconds;

Notice notice_of(const std::string& incident, const std::string& state = "drained",
                 Severity severity = Severity::kCritical) {
  Notice notice;
  notice.node = "n1";
  notice.incident = incident;
  notice.state = state;
  notice.fault_class = "gpu_lost";
  notice.severity = severity;
  return notice;
}

bool comes_true(const std::function<bool()>& condition) {
  const auto limit = std::chrono::steady_clock::now() + seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

class NotifierTest : public testing::Test {
 protected:
  void SetUp() override { ::unsetenv("http_proxy"); }
  // The courier reads the same lines from a file.
  Notifier::Options options_for(const std::string& lines) {
    directory_.write("acrf.conf", lines);
    Notifier::Options options;
    const auto config = parse_config(lines, "acrf.conf");
    EXPECT_TRUE(config.ok()) << (config ? "" : config.error().sentence);
    if (config) options.rules = config->notifies;
    options.spool = directory_.path("notify");
    options.courier = ACRF_COURIER;
    options.config_path = directory_.path("acrf.conf");
    options.node = "n1";
    options.first_retry_ms = 50;
    return options;
  }
  std::size_t waiting(const std::string& name) {
    return waiting_notices(directory_.path("notify"), name).size();
  }
  TemporaryDirectory directory_;
};

std::string webhook(const std::string& name, int port, const std::string& more = "") {
  return "Notify=" + name + " Type=webhook Url=http://127.0.0.1:" + std::to_string(port) + "/ " +
         more + "\n";
}

std::vector<std::string> ids_in(const Endpoint& endpoint) {
  std::vector<std::string> ids;
  for (const auto& request : endpoint.all()) {
    const auto body = request.substr(request.find("\r\n\r\n") + 4);
    ids.push_back(nlohmann::json::parse(body).at("id"));
  }
  return ids;
}

TEST_F(NotifierTest, TellsEachStateOnce) {
  const Endpoint endpoint(http("ok"));
  std::atomic<int> reported = 0;
  Notifier notifier(options_for(webhook("ops", endpoint.port())),
                    [&](const Notifier::Outcome& outcome) { reported += outcome.sent ? 1 : 100; });
  for (int i = 0; i < 3; ++i) {
    notifier.tell(notice_of("i1"));
    notifier.tell(notice_of("i1", "returned"));
    notifier.tell(notice_of("i2", "opened", Severity::kWarning));  // below the rule's severity
  }
  ASSERT_TRUE(comes_true([&] { return reported == 2 && waiting("ops") == 0; }));
  EXPECT_THAT(ids_in(endpoint), testing::UnorderedElementsAre("i1:drained", "i1:returned"));
}

TEST_F(NotifierTest, ARestartRepeatsNothingAndLosesNothing) {
  int port = 0;
  {
    const Endpoint endpoint(http("ok"));
    port = endpoint.port();
    Notifier notifier(options_for(webhook("ops", port)), nullptr);
    notifier.tell(notice_of("i1"));
    ASSERT_TRUE(comes_true([&] { return endpoint.requests() == 1 && waiting("ops") == 0; }));
  }
  {
    Notifier notifier(options_for(webhook("ops", port)), nullptr);  // nobody listens now
    notifier.tell(notice_of("i1"));
    notifier.tell(notice_of("i2"));
    ASSERT_TRUE(comes_true([&] { return waiting("ops") == 1; }));
  }
  const Endpoint endpoint([](int, const std::string&) { return http("ok"); }, port);
  Notifier notifier(options_for(webhook("ops", port)), nullptr);
  notifier.tell(notice_of("i2"));
  ASSERT_TRUE(comes_true([&] { return waiting("ops") == 0 && endpoint.requests() >= 1; }));
  EXPECT_THAT(ids_in(endpoint), testing::ElementsAre("i2:drained"));
}

TEST_F(NotifierTest, TriesAgainUntilItIsTaken) {
  const Endpoint endpoint(
      [](int n, const std::string&) { return n < 3 ? http("down", 503) : http("ok"); });
  Notifier notifier(options_for(webhook("ops", endpoint.port())), nullptr);
  notifier.tell(notice_of("i1"));
  ASSERT_TRUE(comes_true([&] { return endpoint.requests() == 4 && waiting("ops") == 0; }));
}

TEST_F(NotifierTest, AnEndpointThatHangsDelaysNobodyElse) {
  const Endpoint hangs("", false);
  const Endpoint works(http("ok"));
  Notifier notifier(options_for(webhook("hangs", hangs.port()) + webhook("works", works.port())),
                    nullptr);
  for (int i = 0; i < 5; ++i) notifier.tell(notice_of("i" + std::to_string(i)));
  ASSERT_TRUE(comes_true([&] { return works.requests() == 5; }));
  EXPECT_EQ(waiting("hangs"), 5u);
  EXPECT_LE(hangs.requests(), 1);
}

TEST_F(NotifierTest, AMessageThatIsRefusedIsGivenUp) {
  const Endpoint endpoint([](int, const std::string& request) {
    return request.find("i1") != std::string::npos ? http("no", 400) : http("ok");
  });
  std::atomic<int> refused = 0, sent = 0;
  Notifier notifier(options_for(webhook("ops", endpoint.port())),
                    [&](const Notifier::Outcome& outcome) { ++(outcome.sent ? sent : refused); });
  notifier.tell(notice_of("i1"));
  notifier.tell(notice_of("i2"));
  ASSERT_TRUE(comes_true([&] { return refused == 1 && sent == 1; }));
  EXPECT_EQ(waiting("ops"), 0u);
}

TEST_F(NotifierTest, HoldsBackAFlood) {
  const Endpoint endpoint(http("ok"));
  Notifier notifier(options_for(webhook("ops", endpoint.port(), "RateLimit=3/h")), nullptr);
  for (int i = 0; i < 50; ++i) notifier.tell(notice_of("i" + std::to_string(i)));
  ASSERT_TRUE(comes_true([&] { return endpoint.requests() == 3 && waiting("ops") == 0; }));
}

TEST_F(NotifierTest, AFullSpoolKeepsTheMostImportant) {
  auto options = options_for(webhook("ops", 1, "Severity=info"));
  options.bounds.messages = 3;
  Notifier notifier(options, nullptr);
  std::int64_t time_ms = 1'800'000'000'000;
  const auto tell = [&](const std::string& incident, Severity severity) {
    auto notice = notice_of(incident, "opened", severity);
    notice.unix_ms = ++time_ms;
    notifier.tell(notice);
  };
  tell("i1", Severity::kWarning);
  for (int i = 2; i < 5; ++i) tell("i" + std::to_string(i), Severity::kCritical);
  tell("i5", Severity::kInfo);
  tell("i6", Severity::kCritical);
  ASSERT_TRUE(comes_true([&] {
    const auto left = waiting_notices(directory_.path("notify"), "ops");
    return left.size() == 3 && left.back().notice.incident == "i6";
  }));
  for (const auto& spooled : waiting_notices(directory_.path("notify"), "ops"))
    EXPECT_EQ(spooled.notice.severity, Severity::kCritical);
}

TEST_F(NotifierTest, AMissingCourierIsSaidAndNothingIsLost) {
  auto options = options_for(webhook("ops", 1));
  options.courier = directory_.path("missing");
  Notifier notifier(options, nullptr);
  notifier.tell(notice_of("i1"));
  ASSERT_TRUE(comes_true([&] { return waiting("ops") == 1; }));
}

TEST_F(NotifierTest, ReceiversThatAreGoneLeaveNothingBehind) {
  {
    Notifier notifier(options_for(webhook("old", 1)), nullptr);
    notifier.tell(notice_of("i1"));
    ASSERT_TRUE(comes_true([&] { return waiting("old") == 1; }));
  }
  Notifier notifier(options_for(webhook("new", 1)), nullptr);
  ASSERT_TRUE(comes_true([&] { return !std::filesystem::exists(directory_.path("notify/old")); }));
}

}  // namespace
}  // namespace acrf
