// SPDX-License-Identifier: GPL-2.0-or-later
#include "minicluster/ports.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <string>

namespace acrf::minicluster {
namespace {

constexpr int kFirstPort = 20000;
constexpr int kPortRange = 10000;  // below the kernel's range for outgoing connections

bool is_free(int port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

// An abstract socket's name belongs to one process at a time and leaves nothing behind.
UniqueFd claim(int port) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("acrf-cluster-port-{}", port);
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) fd.reset();
  return fd;
}

}  // namespace

// Different processes begin their search at different places, and go on where they ended, because
// a port that was just given up may still be in use by connections.
Result<Ports> claim_ports(int count) {
  static int next = ::getpid() * 131 % kPortRange;
  Ports ports;
  for (int tried = 0; tried < kPortRange && static_cast<int>(ports.numbers.size()) < count;
       ++tried) {
    const int port = kFirstPort + next;
    next = (next + 1) % kPortRange;
    auto claimed = claim(port);
    if (next == 0 || !claimed || !is_free(port)) {  // a gap: begin anew after it
      ports = {};
      continue;
    }
    ports.numbers.push_back(port);
    ports.claims.push_back(std::move(claimed));
  }
  if (static_cast<int>(ports.numbers.size()) == count) return ports;
  return Error{ErrorCode::kUnavailable,
               fmt::format("only {} of {} ports are free between {} and {} on 127.0.0.1",
                           ports.numbers.size(), count, kFirstPort, kFirstPort + kPortRange - 1)};
}

}  // namespace acrf::minicluster
