// SPDX-License-Identifier: GPL-2.0-or-later
// What receivers get, sent to a real server on this host.
#include "common/notify_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "common/file.h"
#include "common/signature.h"
#include "delivery.h"
#include "http_endpoint.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

constexpr milliseconds kTimeout{10'000};

Notice gpu_lost() {
  Notice notice;
  notice.node = "n1";
  notice.incident = "n1-abc";
  notice.state = "drained";
  notice.fault_class = "gpu_lost";
  notice.severity = Severity::kFatal;
  notice.action = "reboot_node";
  notice.where = "0000:1a:00";
  notice.result = "node drained";
  notice.evidence = "Xid 79 <&> \"quoted\"";
  notice.opened_unix_ms = 1'700'000'000'000;
  notice.unix_ms = 1'700'000'060'000;
  return notice;
}

NotifyRule rule_to(NotifyType type, const std::string& url) {
  NotifyRule rule;
  rule.name = "ops";
  rule.type = type;
  rule.url = url;
  return rule;
}

std::string header_of(const std::string& request, const std::string& name) {
  const auto at = request.find("\r\n" + name + ": ");
  if (at == std::string::npos) return "";
  const auto start = at + name.size() + 4;
  return request.substr(start, request.find("\r\n", start) - start);
}

std::string body_of(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

class NotifyDelivery : public testing::Test {
 protected:
  std::string key_file(const std::string& key, unsigned mode = 0600) {
    directory_.write("key", key + "\n");
    ::chmod(directory_.path("key").c_str(), mode);
    return directory_.path("key");
  }
  void SetUp() override {
    ::unsetenv("http_proxy");
    if (::geteuid() != 0) GTEST_SKIP() << "key files must be root's";
  }
  TemporaryDirectory directory_;
};

TEST_F(NotifyDelivery, AWebhookCanVerifyTheSignature) {
  const Endpoint endpoint(http("ok"));
  auto rule = rule_to(NotifyType::kWebhook, endpoint.url());
  rule.key_file = key_file("s3cret");
  ASSERT_TRUE(deliver(rule, gpu_lost(), kTimeout).ok());
  const auto request = endpoint.last_request();
  EXPECT_THAT(request, HasSubstr("POST /v1 HTTP/1.1\r\n"));
  const auto signed_text = header_of(request, "X-ACRF-Timestamp") + "." + body_of(request);
  EXPECT_EQ(header_of(request, "X-ACRF-Signature"),
            "sha256=" + to_hex(hmac_sha256("s3cret", signed_text)));
  EXPECT_EQ(header_of(request, "X-ACRF-Id"), "n1-abc:drained");
  const auto body = json::parse(body_of(request));
  EXPECT_EQ(body["class"], "gpu_lost");
  EXPECT_EQ(body["evidence"], "Xid 79 <&> \"quoted\"");
  EXPECT_THAT(request, Not(HasSubstr("s3cret")));
}

TEST_F(NotifyDelivery, AKeyThatOthersMayReadIsNotUsed) {
  const Endpoint endpoint(http("ok"));
  auto rule = rule_to(NotifyType::kWebhook, endpoint.url());
  rule.key_file = key_file("s3cret", 0644);
  EXPECT_THAT(deliver(rule, gpu_lost(), kTimeout).error().sentence, HasSubstr("nobody else"));
  EXPECT_EQ(endpoint.requests(), 0);
}

TEST_F(NotifyDelivery, SlackGetsTextAndNoMarkup) {
  const Endpoint endpoint(http("ok"));
  auto rule = rule_to(NotifyType::kSlack, "");
  rule.key_file = key_file(endpoint.url());
  rule.text = "{node}: {evidence}";
  ASSERT_TRUE(deliver(rule, gpu_lost(), kTimeout).ok());
  EXPECT_EQ(json::parse(body_of(endpoint.last_request())),
            json({{"text", "n1: Xid 79 &lt;&amp;&gt; \"quoted\""}}));
}

TEST_F(NotifyDelivery, AlertmanagerFiresAndResolvesTheSameAlert) {
  const Endpoint endpoint(http("ok"));
  auto rule =
      rule_to(NotifyType::kAlertmanager, "http://127.0.0.1:" + std::to_string(endpoint.port()));
  rule.key_file = key_file("token");
  ASSERT_TRUE(deliver(rule, gpu_lost(), kTimeout).ok());
  auto back = gpu_lost();
  back.state = "returned";
  back.resolved = true;
  back.unix_ms = 1'700'000'600'000;
  ASSERT_TRUE(deliver(rule, back, kTimeout).ok());
  const auto requests = endpoint.all();
  EXPECT_THAT(requests[0], HasSubstr("POST /api/v2/alerts HTTP"));
  EXPECT_EQ(header_of(requests[0], "Authorization"), "Bearer token");
  const auto fired = json::parse(body_of(requests[0]))[0];
  const auto resolved = json::parse(body_of(requests[1]))[0];
  EXPECT_EQ(fired["labels"], resolved["labels"]);
  EXPECT_EQ(fired["startsAt"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(fired["endsAt"], "2023-11-21T22:14:20Z");
  EXPECT_EQ(resolved["endsAt"], "2023-11-14T22:23:20Z");
}

TEST_F(NotifyDelivery, PagerDutyTriggersAndResolvesOneIncident) {
  const Endpoint endpoint(http("{}", 202));
  auto rule = rule_to(NotifyType::kPagerDuty, endpoint.url());
  rule.key_file = key_file("routing");
  ASSERT_TRUE(deliver(rule, gpu_lost(), kTimeout).ok());
  auto back = gpu_lost();
  back.resolved = true;
  ASSERT_TRUE(deliver(rule, back, kTimeout).ok());
  const auto first = json::parse(body_of(endpoint.all()[0]));
  const auto second = json::parse(body_of(endpoint.all()[1]));
  EXPECT_EQ(first["routing_key"], "routing");
  EXPECT_EQ(first["event_action"], "trigger");
  EXPECT_EQ(second["event_action"], "resolve");
  EXPECT_EQ(first["dedup_key"], second["dedup_key"]);
  EXPECT_EQ(first["payload"]["severity"], "critical");
  EXPECT_EQ(first["payload"]["source"], "n1");
}

TEST_F(NotifyDelivery, SnsGetsASignedPublish) {
  const Endpoint endpoint(http("<PublishResponse/>"));
  auto rule = rule_to(NotifyType::kSns, "http://127.0.0.1:" + std::to_string(endpoint.port()));
  rule.to = {"arn:aws:sns:eu-west-1:123456789012:acrf"};
  rule.key_file = key_file("AKID SECRET TOKEN");
  ASSERT_TRUE(deliver(rule, gpu_lost(), kTimeout).ok());
  const auto request = endpoint.last_request();
  const auto time = header_of(request, "x-amz-date");
  // Signed again, from what arrived.
  const AwsRequest arrived{"POST",
                           "/",
                           "",
                           {{"content-type", header_of(request, "content-type")},
                            {"host", header_of(request, "Host")},
                            {"x-amz-date", time},
                            {"x-amz-security-token", header_of(request, "x-amz-security-token")}},
                           body_of(request)};
  EXPECT_EQ(header_of(request, "x-amz-security-token"), "TOKEN");
  EXPECT_EQ(header_of(request, "Authorization"),
            aws_authorization({"AKID", "SECRET", "TOKEN"}, arrived, time, "eu-west-1", "sns"));
  EXPECT_THAT(body_of(request), HasSubstr("TopicArn=arn%3Aaws%3Asns%3Aeu-west-1%3A123456789012"));
  EXPECT_THAT(request, Not(HasSubstr("SECRET")));
}

// AWS's published examples, whose signatures were computed again with Python's hmac.
TEST(AwsSignature, IsThatOfThePublishedExamples) {
  const AwsKey key{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
  const std::string time = "20150830T123600Z";
  AwsRequest request{"GET", "/", "", {{"host", "example.amazonaws.com"}, {"x-amz-date", time}}, ""};
  EXPECT_EQ(aws_authorization(key, request, time, "us-east-1", "service"),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            "SignedHeaders=host;x-amz-date, "
            "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
  request.method = "POST";
  request.headers.insert(request.headers.begin(),
                         {"content-type", "application/x-www-form-urlencoded"});
  request.body = "Param1=value1";
  EXPECT_THAT(aws_authorization(key, request, time, "us-east-1", "service"),
              HasSubstr("ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"));
  const AwsRequest users{"GET",
                         "/",
                         "Action=ListUsers&Version=2010-05-08",
                         {{"content-type", "application/x-www-form-urlencoded; charset=utf-8"},
                          {"host", "iam.amazonaws.com"},
                          {"x-amz-date", time}},
                         ""};
  EXPECT_THAT(aws_authorization(key, users, time, "us-east-1", "iam"),
              HasSubstr("5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"));
  EXPECT_EQ(aws_time(1'440'938'160), time);
}

TEST_F(NotifyDelivery, RefusalsAndTroubleAreToldApart) {
  const auto rule_for = [](const Endpoint& endpoint) {
    return rule_to(NotifyType::kWebhook, endpoint.url());
  };
  const Endpoint refuses(http("bad payload", 400));
  const auto refused = deliver(rule_for(refuses), gpu_lost(), kTimeout);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().sentence, HasSubstr("HTTP 400: bad payload"));
  const Endpoint broken(http("oops", 500));
  EXPECT_EQ(deliver(rule_for(broken), gpu_lost(), kTimeout).error().code, ErrorCode::kUnavailable);
  const Endpoint silent("", false);
  EXPECT_EQ(deliver(rule_for(silent), gpu_lost(), milliseconds(200)).error().code,
            ErrorCode::kUnavailable);
  EXPECT_EQ(deliver(rule_to(NotifyType::kWebhook, "http://127.0.0.1:1/"), gpu_lost(), kTimeout)
                .error()
                .code,
            ErrorCode::kUnavailable);
}

TEST_F(NotifyDelivery, RedirectsAreNotFollowed) {
  directory_.write("secret", "file");
  const Endpoint other(http("ok"));
  for (const auto& to : {"file://" + directory_.path("secret"), other.url()}) {
    const Endpoint endpoint(http("", 307, "Location: " + to + "\r\n"));
    EXPECT_THAT(deliver(rule_to(NotifyType::kWebhook, endpoint.url()), gpu_lost(), kTimeout)
                    .error()
                    .sentence,
                HasSubstr("HTTP 307"));
  }
  EXPECT_EQ(other.requests(), 0);
}

TEST_F(NotifyDelivery, AHugeAnswerIsNotReadToItsEnd) {
  const Endpoint endpoint(http(std::string(10'000'000, 'x')));
  EXPECT_TRUE(deliver(rule_to(NotifyType::kWebhook, endpoint.url()), gpu_lost(), kTimeout).ok());
}

TEST_F(NotifyDelivery, NoLogLineMakesAHeader) {
  const Endpoint endpoint(http("ok"));
  auto notice = gpu_lost();
  notice.incident = "n1\r\nX-Evil: yes";
  const auto rule = rule_to(NotifyType::kWebhook, endpoint.url());
  EXPECT_FALSE(deliver(rule, notice, kTimeout).ok());  // as it is, it is not sent at all
  ASSERT_TRUE(deliver(rule, bounded(notice), kTimeout).ok());
  EXPECT_EQ(header_of(endpoint.last_request(), "X-Evil"), "");
}

TEST_F(NotifyDelivery, MailGoesThroughSendmailWithoutAShell) {
  directory_.write("sendmail", "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + directory_.path("args") +
                                   "\ncat > " + directory_.path("mail") + "\n");
  ::chmod(directory_.path("sendmail").c_str(), 0700);
  auto rule = rule_to(NotifyType::kEmail, "");
  rule.program = directory_.path("sendmail");
  rule.to = {"ops@example.org", "night@example.org"};
  rule.text = "{evidence}";
  auto notice = gpu_lost();
  notice.evidence = "x\nBcc: all@example.org\n\n$(reboot) `reboot`";
  ASSERT_TRUE(deliver(rule, notice, kTimeout).ok());
  EXPECT_EQ(*read_file(directory_.path("args")), "-i\n--\nops@example.org\nnight@example.org\n");
  const auto mail = *read_file(directory_.path("mail"));
  const auto headers = mail.substr(0, mail.find("\n\n"));
  EXPECT_THAT(headers, HasSubstr("To: ops@example.org, night@example.org\n"));
  EXPECT_THAT(headers, HasSubstr("Subject: ACRF: x Bcc: all@example.org  $(reboot)"));
  EXPECT_THAT(headers, Not(HasSubstr("\nBcc")));
  EXPECT_THAT(headers, HasSubstr("X-ACRF-Id: n1-abc:drained\n"));
  EXPECT_THAT(mail, HasSubstr("\nnode: n1\n"));
}

TEST_F(NotifyDelivery, ASendmailThatFailsOrHangsIsSaid) {
  auto rule = rule_to(NotifyType::kEmail, "");
  rule.to = {"ops@example.org"};
  rule.program = "/bin/false";
  EXPECT_THAT(deliver(rule, gpu_lost(), kTimeout).error().sentence, HasSubstr("status 1"));
  rule.program = directory_.path("missing");
  EXPECT_FALSE(deliver(rule, gpu_lost(), kTimeout).ok());
  directory_.write("hangs", "#!/bin/sh\nexec sleep 1000\n");
  ::chmod(directory_.path("hangs").c_str(), 0700);
  rule.program = directory_.path("hangs");
  EXPECT_THAT(deliver(rule, gpu_lost(), milliseconds(100)).error().sentence, HasSubstr("in time"));
}

}  // namespace
}  // namespace acrf
