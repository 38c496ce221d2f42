// SPDX-License-Identifier: GPL-2.0-or-later
// Two ends of a connection between neighbours, on loopback, with credentials of the test's own.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peers/greeting.h"
#include "peers/peer_link.h"
#include "peers/peer_server.h"
#include "peers/slurmd_look.h"

namespace acrf {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

// "USER|text": what munge would say, without munge.
Seals seals_of(std::uint32_t user) {
  return {[user](const std::string& text) -> Result<std::string> {
            return std::to_string(user) + "|" + text;
          },
          [](const std::string& credential) -> Result<SealedText> {
            const auto bar = credential.find('|');
            if (bar == std::string::npos) return Error{ErrorCode::kInvalid, "no seal"};
            return SealedText{credential.substr(bar + 1),
                              static_cast<std::uint32_t>(std::stoul(credential))};
          }};
}

Seals own_seals() { return seals_of(::getuid()); }

class Peers : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(server_.listen(0).ok()); }

  PeerLink link_to(const std::string& name, const Seals& seals) {
    return PeerLink("n1", {name, "127.0.0.1", server_.port(), 0, 0}, seals,
                    [this](const std::string& node, const std::string& word) {
                      witnessed_ = node + " " + word;
                    });
  }
  // Lets both sides work, at a time that stands still, until something holds.
  bool turn_until(PeerLink& link, const std::function<bool()>& holds) {
    for (int i = 0; i < 2000; ++i) {
      if (holds()) return true;
      turn(link, 1);
    }
    return false;
  }
  void turn(PeerLink& link, int times) {
    for (int i = 0; i < times; ++i) {
      link.step(now_);
      server_.step(now_);
      ::usleep(500);
    }
  }

  Clock::time_point now_ = Clock::now();
  bool alive_ = true;
  std::string greeted_, witnessed_;
  PeerServer server_{"n2",
                     own_seals(),
                     {[this] { return alive_; },
                      [](const std::string& node) { return node == "n3" ? "yes" : "unknown"; },
                      [this](const std::string& node) { greeted_ = node; }}};
};

TEST_F(Peers, GetToKnowEachOtherAndAnswer) {
  auto link = link_to("n2", own_seals());
  ASSERT_TRUE(turn_until(link, [&] { return link.is_up(); }));
  EXPECT_EQ(greeted_, "n1");
  EXPECT_TRUE(link.take_answer());
  EXPECT_FALSE(link.take_answer());
  now_ += seconds(1);
  EXPECT_TRUE(turn_until(link, [&] { return link.take_answer(); }));
  link.ask_about("n3");
  EXPECT_TRUE(turn_until(link, [&] { return witnessed_ == "n3 yes"; })) << witnessed_;
}

TEST_F(Peers, ADaemonWhoseLoopIsStuckDoesNotAnswer) {
  auto link = link_to("n2", own_seals());
  ASSERT_TRUE(turn_until(link, [&] { return link.take_answer(); }));
  ASSERT_TRUE(turn_until(link, [&] { return link.take_answer(); })) << "the first ping";
  alive_ = false;
  now_ += seconds(1);
  turn(link, 50);
  EXPECT_FALSE(link.take_answer());
  now_ += seconds(10);  // it is given up, and nobody is let in anew
  EXPECT_TRUE(turn_until(link, [&] { return !link.is_up(); }));
  now_ += seconds(2);
  turn(link, 50);
  EXPECT_FALSE(link.is_up());
}

TEST_F(Peers, OthersThanItsOwnUserAreTurnedAway) {
  auto link = link_to("n2", seals_of(::getuid() + 1));
  turn(link, 50);
  EXPECT_FALSE(link.is_up());
  EXPECT_EQ(greeted_, "");
}

TEST_F(Peers, AGreetingForAnotherNodeIsNone) {
  auto link = link_to("n9", own_seals());
  turn(link, 50);
  EXPECT_FALSE(link.is_up());
}

TEST_F(Peers, AnOrderlyEndIsAnnounced) {
  auto link = link_to("n2", own_seals());
  ASSERT_TRUE(turn_until(link, [&] { return link.is_up(); }));
  EXPECT_FALSE(link.said_farewell());
  server_.say_bye();
  EXPECT_TRUE(turn_until(link, [&] { return link.said_farewell(); }));
  EXPECT_FALSE(link.is_up());
}

TEST_F(Peers, NoiseIsNoHello) {
  LineSocket visitor;
  auto fd = begin_connect("127.0.0.1", server_.port());
  ASSERT_TRUE(fd.ok());
  visitor = LineSocket(std::move(*fd));
  visitor.send("ping");
  for (int i = 0; i < 2000 && visitor.pump(); ++i) {
    server_.step(now_);
    ::usleep(500);
  }
  EXPECT_FALSE(visitor.is_open()) << "nobody who has not said hello gets an answer";
}

TEST(Greeting, IsBoundToBothNodesAndToTheConnection) {
  const auto words = hello(own_seals(), "n1", "n2", "abc");
  ASSERT_TRUE(words.ok());
  const auto read = read_hello(own_seals(), *words, "n2");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->from, "n1");
  const auto answer = welcome(own_seals(), "n2", *read);
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(is_welcome(own_seals(), *answer, "n1", "n2", "abc"));
  EXPECT_FALSE(is_welcome(own_seals(), *answer, "n1", "n2", "abd"));
  EXPECT_FALSE(is_welcome(own_seals(), *answer, "n1", "n3", "abc"));
  EXPECT_FALSE(is_welcome(own_seals(), "welcome", "n1", "n2", "abc"));
  EXPECT_FALSE(read_hello(own_seals(), "GET / HTTP/1.1", "n2").ok());
}

TEST(MungeSocket, IsFoundInAuthInfo) {
  EXPECT_EQ(munge_socket_in("cred_expire=60,socket=/run/x"), "/run/x");
  EXPECT_EQ(munge_socket_in("socket=/run/x,cred_expire=60"), "/run/x");
  EXPECT_EQ(munge_socket_in(""), "");
}

// A port that the test serves, or does not.
class SlurmdPort : public testing::Test {
 protected:
  void SetUp() override {
    fd_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(fd_.get(), 4), 0);
    ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  UniqueFd fd_;
  int port_ = 0;
};

TEST_F(SlurmdPort, OneThatTakesAndEndsConnectionsServes) {
  const auto now = Clock::now();
  SlurmdLook look;
  look.start("127.0.0.1", port_, now);
  std::optional<bool> serves;
  for (int i = 0; i < 2000 && !serves; ++i) {
    const UniqueFd visitor(::accept(fd_.get(), nullptr, nullptr));
    serves = look.step(now);
    ::usleep(500);
  }
  EXPECT_EQ(serves, true);
}

TEST_F(SlurmdPort, OneThatLeavesThemWaitingDoesNot) {
  const auto now = Clock::now();
  SlurmdLook look;
  look.start("127.0.0.1", port_, now);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(look.step(now), std::nullopt);
  EXPECT_EQ(look.step(now + seconds(10)), false);
  EXPECT_FALSE(look.was_refused());
  EXPECT_FALSE(look.is_under_way());
}

TEST_F(SlurmdPort, OneThatIsNotThereIsToldFromOneThatHangs) {
  fd_.reset();
  const auto now = Clock::now();
  SlurmdLook look;
  look.start("127.0.0.1", port_, now);
  std::optional<bool> serves;
  for (int i = 0; i < 2000 && !serves; ++i) {
    serves = look.step(now);
    ::usleep(500);
  }
  EXPECT_EQ(serves, false);
  EXPECT_TRUE(look.was_refused());
}

}  // namespace
}  // namespace acrf
