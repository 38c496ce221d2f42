// SPDX-License-Identifier: GPL-2.0-or-later
#include "peers/line_socket.h"

#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

#include "common/file.h"

namespace acrf {

pollfd LineSocket::poll_entry() const {
  return {fd_.get(), static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
}

void LineSocket::send(const std::string& line) {
  out_ += line + "\n";
  pump();
}

bool LineSocket::pump() {
  char buffer[LineSocket::kLongest];
  while (is_open()) {
    const auto n = ::recv(fd_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n > 0) in_.append(buffer, static_cast<std::size_t>(n));
    if (n > 0 && in_.size() <= 2 * kLongest) continue;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    fd_.reset();
  }
  while (is_open() && !out_.empty()) {
    const auto n = ::send(fd_.get(), out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) out_.erase(0, static_cast<std::size_t>(n));
    if (n >= 0 || errno == EINTR) continue;
    const bool waits = errno == EAGAIN || errno == EWOULDBLOCK;
    if (!waits || out_.size() > kLongest) fd_.reset();
    break;
  }
  return is_open();
}

// What had arrived before the end is still given.
std::optional<std::string> LineSocket::take_line() {
  const auto end = in_.find('\n');
  if (end == std::string::npos) {
    if (in_.size() > kLongest) fd_.reset();
    return std::nullopt;
  }
  std::string line = in_.substr(0, end);
  in_.erase(0, end + 1);
  return line;
}

Result<UniqueFd> begin_connect(const std::string& address, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;  // names were looked up when peers were chosen
  addrinfo* raw = nullptr;
  if (::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &raw) != 0)
    return Error{ErrorCode::kInvalid, address + " is no address"};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(raw, ::freeaddrinfo);
  UniqueFd fd(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return system_error("make a socket");
  if (::connect(fd.get(), found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS) {
    if (errno == ECONNREFUSED) return Error{ErrorCode::kNotFound, address + " refuses"};
    return system_error("connect to " + address);
  }
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

int connect_result(int fd) {
  int code = 0;
  socklen_t size = sizeof code;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno;
}

}  // namespace acrf
