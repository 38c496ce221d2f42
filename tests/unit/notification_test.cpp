// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/notification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build_paths.h"
#include "common/file.h"
#include "core/config.h"
#include "core/url.h"

namespace acrf {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kHour = 3'600'000;

NotifyRule rule_of(const std::string& text) {
  const auto config = parse_config("Notify=ops " + text, "acrf.conf");
  EXPECT_TRUE(config.ok()) << (config ? "" : config.error().sentence);
  return config ? config->notifies.at(0) : NotifyRule{};
}

std::string problem_of(const std::string& line) {
  const auto config = parse_config("\n" + line, "acrf.conf");
  return config ? "" : config.error().sentence;
}

Notice gpu_lost() {
  Notice notice;
  notice.node = "n1";
  notice.incident = "n1-abc";
  notice.state = "drained";
  notice.fault_class = "gpu_lost";
  notice.severity = Severity::kCritical;
  notice.action = "reboot_node";
  notice.where = "0000:1a:00";
  notice.result = "node drained";
  notice.evidence = "Xid 79";
  notice.unix_ms = 1000;
  return notice;
}

TEST(NotifyRule, IsReadFromItsLine) {
  const auto rule = rule_of(
      "Type=webhook Url=https://a.example/x KeyFile=/etc/k Class=gpu_lost,gsp Severity=warning "
      "Template=\"{node} has {class}\" RateLimit=5/h");
  EXPECT_EQ(rule.name, "ops");
  EXPECT_EQ(rule.type, NotifyType::kWebhook);
  EXPECT_EQ(rule.classes, (std::vector<std::string>{"gpu_lost", "gsp"}));
  EXPECT_EQ(rule.severity, Severity::kWarning);
  EXPECT_EQ(rule.text, "{node} has {class}");
  EXPECT_EQ(rule.per_hour, 5);
  EXPECT_EQ(to_line(rule_of(to_line(rule).substr(11))), to_line(rule));
}

TEST(NotifyRule, FaultsAreNamedWithTheirLine) {
  const std::pair<const char*, const char*> faults[] = {
      {"Notify=ops", "needs a Type"},
      {"Notify=\"a b\" Type=email To=a@b", "needs a name"},
      {"Notify=ops Type=fax", "Type=fax: must be"},
      {"Notify=ops Type=webhook", "needs Url"},
      {"Notify=ops Type=webhook Url=ftp://x/", "must be an http or https URL"},
      {"Notify=ops Type=webhook Url=http://u:p@x/", "must be an http or https URL"},
      {"Notify=ops Type=email", "needs To"},
      {"Notify=ops Type=email To=-oQ/tmp@x", "must be mail addresses"},
      {"Notify=ops Type=email To=\"a@b c\"", "must be mail addresses"},
      {"Notify=ops Type=slack", "either Url or KeyFile"},
      {"Notify=ops Type=pagerduty Url=https://x/", "needs KeyFile"},
      {"Notify=ops Type=pagerduty Url=http://x/ KeyFile=/k", "must be https"},
      {"Notify=ops Type=sns Url=https://x/ To=a@b KeyFile=/k", "arn:"},
      {"Notify=ops Type=email To=a@b Severity=bad", "must be info, warning"},
      {"Notify=ops Type=email To=a@b RateLimit=0/h", "must be 1/h"},
      {"Notify=ops Type=email To=a@b RateLimit=5", "must be 1/h"},
      {"Notify=ops Type=email To=a@b Template={nobody}", "stands for nothing"},
      {"Notify=ops Type=email To=a@b Template={node", "has no }"},
      {"Notify=ops Type=email To=a@b Colour=red", "has no 'Colour'"},
      {"Notify=ops Type=email To=a@b KeyFile=key", "absolute path"},
  };
  for (const auto& [line, sentence] : faults) {
    EXPECT_THAT(problem_of(line), HasSubstr(sentence)) << line;
    EXPECT_THAT(problem_of(line), HasSubstr("acrf.conf:2: ")) << line;
  }
  EXPECT_THAT(problem_of("Notify=a Type=email To=a@b\nNotify=a Type=email To=a@b"),
              HasSubstr("acrf.conf:3: Notify a is already on line 2"));
}

TEST(NotifyRule, StandsInTheManual) {
  const auto manual = read_file(ACRF_TEST_DATA "/../../doc/man/acrf.conf.5");
  ASSERT_TRUE(manual.ok());
  for (const auto& key : notify_keys())
    EXPECT_THAT(*manual, HasSubstr(".TP\n.B " + std::string(key.name) + "\n" +
                                   std::string(key.help) + "\n"));
}

TEST(Notification, GoesToThoseWhoWantIt) {
  const auto notice = gpu_lost();
  EXPECT_TRUE(wants(rule_of("Type=email To=a@b"), notice));
  EXPECT_TRUE(wants(rule_of("Type=email To=a@b Class=gsp,gpu_lost"), notice));
  EXPECT_FALSE(wants(rule_of("Type=email To=a@b Class=gsp"), notice));
  EXPECT_FALSE(wants(rule_of("Type=email To=a@b Severity=fatal"), notice));
}

TEST(Notification, FillsInTheTemplateOnce) {
  auto notice = gpu_lost();
  notice.evidence = "{node}\nBcc: all@x {class}";
  EXPECT_EQ(text_of(rule_of("Type=email To=a@b Template=\"{node}/{evidence}\""), notice),
            "n1/{node} Bcc: all@x {class}");
}

TEST(Notification, TheSameStateOfAnIncidentIsNoNews) {
  auto later = gpu_lost();
  later.unix_ms = 99;
  later.result = "other words";
  EXPECT_EQ(id_of(gpu_lost()), id_of(later));
  later.state = "returned";
  EXPECT_NE(id_of(gpu_lost()), id_of(later));
}

TEST(Notification, HoldsBackWhatIsTooMuchAndCountsIt) {
  HourlyLimit limit(2);
  EXPECT_TRUE(limit.admit(0));
  EXPECT_FALSE(limit.room_ms());
  EXPECT_TRUE(limit.admit(1000));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(limit.admit(2000 + i));
  EXPECT_FALSE(limit.take_held_back(kHour - 1));
  EXPECT_EQ(limit.room_ms(), kHour);
  EXPECT_EQ(limit.take_held_back(kHour), 3);
  EXPECT_FALSE(limit.take_held_back(kHour + 1));
  EXPECT_FALSE(limit.admit(kHour + 999));  // the summary took the room
  EXPECT_TRUE(limit.admit(kHour + 1000));
}

TEST(Notification, WaitsLongerAfterEachFailure) {
  EXPECT_EQ(retry_after_s(1), 5);
  EXPECT_EQ(retry_after_s(2), 10);
  EXPECT_EQ(retry_after_s(8), 640);
  EXPECT_EQ(retry_after_s(1000), 900);
}

TEST(Notification, MakesRoomWithTheLeastImportant) {
  std::vector<Notice> waiting(4, gpu_lost());
  for (int i = 0; i < 4; ++i) waiting[static_cast<std::size_t>(i)].unix_ms = i;
  EXPECT_EQ(least_needed(waiting), 0u);
  waiting[2].severity = Severity::kWarning;
  EXPECT_EQ(least_needed(waiting), 2u);
  waiting[2].resolved = true;
  EXPECT_EQ(least_needed(waiting), 0u);
}

TEST(Url, SecretsStayOnThisHostOrGoOverTls) {
  for (const char* safe :
       {"https://x/", "http://127.0.0.1:8/", "http://localhost", "http://[::1]/a"})
    EXPECT_TRUE(keeps_secrets(*parse_url(safe))) << safe;
  for (const char* open : {"http://x/", "http://127.0.0.1.evil.example/", "http://localhost.x/"})
    EXPECT_FALSE(keeps_secrets(*parse_url(open))) << open;
  for (const char* bad : {"", "file:///etc/passwd", "http://", "http:///x", "https://a b/",
                          "https://x/\r\nHost: y", "https://u@x/"})
    EXPECT_FALSE(parse_url(bad)) << bad;
}

TEST(Url, FormsAreEncoded) { EXPECT_EQ(encode_form("a b&c=~/\n"), "a%20b%26c%3D~%2F%0A"); }

}  // namespace
}  // namespace acrf
