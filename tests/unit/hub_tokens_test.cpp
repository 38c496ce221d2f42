// SPDX-License-Identifier: GPL-2.0-or-later
// Who may ask the hub: tokens, credentials, and how often.
#include "hub/http/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/file.h"
#include "common/signature.h"
#include "hub/http/credentials.h"
#include "hub/http/rate_limit.h"
#include "unit/temporary_directory.h"

namespace acrf::hub {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kNow = 1'800'000'000;

TEST(HubTokens, AreKeptAsHashesAndFoundBySecret) {
  TemporaryDirectory directory;
  const auto path = directory.path("tokens");
  const auto secret = add_token(path, "ops", Role::kAdmin, 0);
  ASSERT_TRUE(secret.ok()) << secret.error().sentence;
  EXPECT_GE(secret->size(), 64u);
  const auto text = read_file(path);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, testing::Not(HasSubstr(secret->substr(5))));
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  TokenFile file(path);
  const auto found = file.find(*secret, kNow);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "ops");
  EXPECT_EQ(found->role, Role::kAdmin);
  EXPECT_FALSE(file.find(*secret + "x", kNow));
  EXPECT_FALSE(file.find("", kNow));
  EXPECT_FALSE(file.find(to_hex(sha256(*secret)), kNow)) << "the hash itself opens nothing";
}

TEST(HubTokens, ExpireAndAreForgottenWithTheirLine) {
  TemporaryDirectory directory;
  const auto path = directory.path("tokens");
  const auto short_lived = add_token(path, "short", Role::kRead, kNow);
  const auto lasting = add_token(path, "lasting", Role::kRead, 0);
  ASSERT_TRUE(short_lived.ok() && lasting.ok());
  TokenFile file(path);
  EXPECT_TRUE(file.find(*short_lived, kNow - 1));
  EXPECT_FALSE(file.find(*short_lived, kNow));
  EXPECT_TRUE(file.find(*lasting, kNow));
  ASSERT_TRUE(write_file(path, "# nobody\n").ok());
  EXPECT_FALSE(file.find(*lasting, kNow));
}

TEST(HubTokens, HaveOneNameEach) {
  TemporaryDirectory directory;
  const auto path = directory.path("tokens");
  ASSERT_TRUE(add_token(path, "ops", Role::kRead, 0).ok());
  const auto again = add_token(path, "ops", Role::kAdmin, 0);
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().sentence, HasSubstr("has a token ops already"));
  for (const char* name : {"", "a b", "a\n", "ä"})
    EXPECT_FALSE(add_token(path, name, Role::kRead, 0).ok()) << name;
}

TEST(HubTokens, BadLinesAreNamed) {
  const std::string hash(64, 'a');
  EXPECT_TRUE(parse_tokens("# x\n\nops read " + hash + " never\n", "t").ok());
  EXPECT_EQ(parse_tokens("ops read " + hash + " 2026-12-31T00:00:00Z", "t")->front().expires_unix_s,
            1798675200);
  const struct {
    std::string line, sentence;
  } bad[] = {{"ops read", "must be"},
             {"ops root " + hash + " never", "role"},
             {"ops read abc never", "64 hexadecimal digits"},
             {"ops read " + hash + " soon", "expiry"}};
  for (const auto& one : bad) {
    const auto parsed = parse_tokens("#\n" + one.line, "t");
    ASSERT_FALSE(parsed.ok()) << one.line;
    EXPECT_THAT(parsed.error().sentence,
                testing::AllOf(HasSubstr("t:2:"), HasSubstr(one.sentence)));
  }
}

TEST(HubTokens, AFileThatOthersMayWriteHoldsNone) {
  TemporaryDirectory directory;
  const auto path = directory.path("tokens");
  const auto secret = add_token(path, "ops", Role::kAdmin, 0);
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  TokenFile file(path);
  EXPECT_THAT(file.check().error().sentence, HasSubstr("only root may write"));
  EXPECT_FALSE(file.find(*secret, kNow));
}

TEST(HubTokens, NoFileIsNoToken) {
  TokenFile file("/nowhere/tokens");
  EXPECT_TRUE(file.check().ok());
  EXPECT_FALSE(file.find("x", kNow));
}

class HubCredentials : public testing::Test {
 protected:
  // "USER TEXT" stands for a credential.
  static Seals seals() {
    Seals seals;
    seals.open = [](const std::string& credential) -> Result<SealedText> {
      const auto blank = credential.find(' ');
      if (blank == std::string::npos) return Error{ErrorCode::kUnavailable, "no credential"};
      return SealedText{credential.substr(blank + 1),
                        static_cast<std::uint32_t>(std::stoul(credential.substr(0, blank)))};
    };
    return seals;
  }
  Claim claim(const std::string& authorization, const std::string& peer = "10.0.0.9") {
    return {peer, authorization, "hub:6822", ""};
  }
  Claim local(const std::string& host = "localhost:6822", const std::string& confirm = "") {
    return {"127.0.0.1", "", host, confirm};
  }
  std::string munge(unsigned user, const std::string& body) {
    return "Munge " + std::to_string(user) + " acrf-action " + to_hex(sha256(body));
  }

  TemporaryDirectory directory_;
  std::string reader_ = *add_token(directory_.path("tokens"), "watch", Role::kRead, 0);
  std::string admin_ = *add_token(directory_.path("tokens"), "ops", Role::kAdmin, 0);
  std::string old_ = *add_token(directory_.path("tokens"), "old", Role::kAdmin, kNow - 1);
  TokenFile tokens_{directory_.path("tokens")};
  Credentials real_{tokens_, seals(), 64030, false};
  Credentials test_{tokens_, seals(), 64030, true};
};

TEST_F(HubCredentials, ReadingNeedsATokenOrThisHost) {
  EXPECT_EQ(real_.may_read(claim(""), kNow).refusal.status, 401);
  EXPECT_EQ(real_.may_read(claim("Bearer wrong"), kNow).refusal.status, 401);
  EXPECT_EQ(real_.may_read(claim("Bearer " + old_), kNow).refusal.status, 401);
  EXPECT_EQ(real_.may_read(claim("Basic " + reader_), kNow).refusal.status, 401);
  EXPECT_EQ(real_.may_read(claim("Bearer " + reader_), kNow).caller.name, "token watch");
  EXPECT_EQ(real_.may_read(claim("bearer " + admin_), kNow).caller.role, Role::kAdmin);
  EXPECT_EQ(real_.may_read(local(), kNow).caller.role, Role::kRead);
  EXPECT_EQ(real_.may_read({"::1", "", "[::1]:6822", ""}, kNow).caller.role, Role::kRead);
  EXPECT_EQ(real_.may_read(claim("Bearer wrong", "127.0.0.1"), kNow).refusal.status, 401)
      << "a wrong token is no better for coming from here";
}

TEST_F(HubCredentials, AnotherSitesNameForThisHostReadsNothing) {
  for (const char* host : {"evil.example", "evil.example:6822", "127.0.0.1.evil.example"})
    EXPECT_EQ(real_.may_read(local(host), kNow).refusal.status, 403) << host;
  for (const char* host : {"localhost", "127.0.0.1:6822", "[::1]:6822"})
    EXPECT_FALSE(real_.may_read(local(host), kNow).is_refused()) << host;
}

TEST_F(HubCredentials, ActingNeedsAnAdmin) {
  EXPECT_EQ(real_.may_act(claim(""), "{}", kNow).refusal.status, 401);
  EXPECT_EQ(real_.may_act(claim("Bearer " + reader_), "{}", kNow).refusal.status, 403);
  EXPECT_EQ(real_.may_act(claim("Bearer " + old_), "{}", kNow).refusal.status, 401);
  EXPECT_EQ(real_.may_act(claim("Bearer " + admin_), "{}", kNow).caller.name, "token ops");
  EXPECT_TRUE(real_.may_act(local("localhost", "yes"), "{}", kNow).is_refused());
}

TEST_F(HubCredentials, AMungeCredentialIsOfRootAndOfThisBody) {
  EXPECT_EQ(real_.may_act(claim(munge(0, "{}")), "{}", kNow).caller.name, "user 0");
  EXPECT_FALSE(real_.may_act(claim(munge(64030, "{}")), "{}", kNow).is_refused());
  EXPECT_EQ(real_.may_act(claim(munge(1000, "{}")), "{}", kNow).refusal.status, 403);
  EXPECT_EQ(real_.may_act(claim(munge(0, "{}")), "{ }", kNow).refusal.status, 401);
  EXPECT_EQ(real_.may_act(claim("Munge 0 " + to_hex(sha256("{}"))), "{}", kNow).refusal.status,
            401);
  EXPECT_EQ(real_.may_act(claim("Munge broken"), "{}", kNow).refusal.status, 401);
}

TEST_F(HubCredentials, OnATestClusterThisHostActsWhenItConfirms) {
  EXPECT_EQ(test_.may_act(local(), "{}", kNow).refusal.status, 403);
  EXPECT_EQ(test_.may_act(local("localhost", "yes"), "{}", kNow).caller.role, Role::kAdmin);
  EXPECT_TRUE(test_.may_act(local("evil.example", "yes"), "{}", kNow).is_refused());
  auto remote = claim("");
  remote.confirm = "yes";
  EXPECT_TRUE(test_.may_act(remote, "{}", kNow).is_refused());
}

TEST(HubRateLimit, LetsABurstThroughAndThenSoManyASecond) {
  RateLimit limit(2, 3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.take("a", 1000)) << i;
  EXPECT_FALSE(limit.take("a", 1000));
  EXPECT_TRUE(limit.take("b", 1000)) << "others are not held back";
  EXPECT_FALSE(limit.has("a", 1400));
  EXPECT_TRUE(limit.take("a", 1500));
  EXPECT_FALSE(limit.take("a", 1500));
  EXPECT_FALSE(limit.take("a", 500)) << "a clock that goes back gives nothing";
}

TEST(HubRateLimit, KnowsABoundedNumberOfAddresses) {
  RateLimit limit(1, 1, 8);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(limit.take(std::to_string(i), i));
  EXPECT_FALSE(limit.take("999", 999)) << "the last one is still known";
}

}  // namespace
}  // namespace acrf::hub
