// SPDX-License-Identifier: GPL-2.0-or-later
#include "peers/slurmd_look.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>

#include "common/unique_fd.h"

namespace acrf {
namespace {

constexpr std::chrono::milliseconds kShort{200};
constexpr std::chrono::milliseconds kLong{10'000};

// Listens on a port of its own; the kernel accepts on its behalf.
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(fd_.get(), any, size), 0);
    EXPECT_EQ(::listen(fd_.get(), 5), 0);
    EXPECT_EQ(::getsockname(fd_.get(), any, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  int port() const { return port_; }
  // As slurmd does with a message that has no bytes.
  void serve_one() const {
    const UniqueFd connection(::accept(fd_.get(), nullptr, nullptr));
    char byte = 0;
    EXPECT_EQ(::read(connection.get(), &byte, 1), 0);
  }
  void close() { fd_.reset(); }

 private:
  UniqueFd fd_;
  int port_ = 0;
};

TEST(SlurmdServes, OneThatClosesTheConnectionAnswers) {
  const Listener listener;
  std::thread serving([&] { listener.serve_one(); });
  EXPECT_TRUE(slurmd_serves("127.0.0.1", listener.port(), kLong));
  serving.join();
}

TEST(SlurmdServes, OneThatOnlyTheKernelAcceptsForHangs) {
  const Listener listener;
  EXPECT_FALSE(slurmd_serves("127.0.0.1", listener.port(), kShort));
}

TEST(SlurmdServes, OneThatIsNotThereDoesNotAnswer) {
  Listener listener;
  listener.close();
  EXPECT_FALSE(slurmd_serves("127.0.0.1", listener.port(), kShort));
}

TEST(SlurmdServes, NothingIsHeldAgainstOneThatNobodyCanFind) {
  EXPECT_TRUE(slurmd_serves("256.1.1.1", 6818, kShort));
}

}  // namespace
}  // namespace acrf
