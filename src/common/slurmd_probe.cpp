// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurmd_probe.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <thread>

#include "common/unique_fd.h"

namespace acrf {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kAgain(100);

bool becomes(int fd, short event, Clock::time_point until) {
  const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now()).count();
  pollfd waiting = {fd, event, 0};
  return ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(0, left))) == 1;
}

// One connection; returns early when it is refused.
bool closes_connection(const addrinfo& address, Clock::time_point until) {
  const UniqueFd fd(
      ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!fd) return false;
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS || !becomes(fd.get(), POLLOUT, until)) return false;
    int problem = 0;
    socklen_t size = sizeof problem;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &problem, &size) != 0 || problem != 0)
      return false;
  }
  ::shutdown(fd.get(), SHUT_WR);
  return becomes(fd.get(), POLLIN, until);
}

}  // namespace

bool slurmd_answers(const std::string& address, int port, milliseconds patience) {
  const auto until = Clock::now() + patience;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* raw = nullptr;
  if (::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &raw) != 0 || !raw)
    return true;  // not known where: nothing is held against it
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(raw, ::freeaddrinfo);
  while (!closes_connection(*found, until)) {
    if (Clock::now() + kAgain >= until) return false;
    std::this_thread::sleep_for(kAgain);
  }
  return true;
}

}  // namespace acrf
