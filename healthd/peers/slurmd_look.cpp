// SPDX-License-Identifier: GPL-2.0-or-later
#include "peers/slurmd_look.h"

#include <sys/socket.h>

#include <cerrno>

#include "peers/line_socket.h"

namespace acrf {
namespace {

constexpr std::chrono::seconds kPatience{2};

}  // namespace

void SlurmdLook::start(const std::string& address, int port, Clock::time_point now) {
  auto fd = begin_connect(address, port);
  fd_ = fd ? std::move(*fd) : UniqueFd();
  under_way_ = true;
  connected_ = false;
  refused_ = !fd && fd.error().code == ErrorCode::kNotFound;
  deadline_ = now + kPatience;
}

pollfd SlurmdLook::poll_entry() const {
  return {fd_.get(), static_cast<short>(connected_ ? POLLIN : POLLOUT), 0};
}

std::optional<bool> SlurmdLook::end(bool serves) {
  fd_.reset();
  under_way_ = false;
  return serves;
}

std::optional<bool> SlurmdLook::step(Clock::time_point now) {
  if (!fd_) return end(false);
  auto entry = poll_entry();
  if (::poll(&entry, 1, 0) == 1 && !connected_) {
    const int code = connect_result(fd_.get());
    refused_ = code == ECONNREFUSED;
    if (code != 0) return end(false);
    connected_ = true;
    ::shutdown(fd_.get(), SHUT_WR);
  }
  if (connected_) {
    char answer[64];
    const auto n = ::recv(fd_.get(), answer, sizeof answer, MSG_DONTWAIT);
    if (n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return end(true);
  }
  if (now >= deadline_) return end(false);
  return std::nullopt;
}

}  // namespace acrf
