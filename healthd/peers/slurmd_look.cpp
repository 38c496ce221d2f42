// SPDX-License-Identifier: GPL-2.0-or-later
#include "peers/slurmd_look.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "peers/line_socket.h"

namespace acrf {
namespace {

constexpr std::chrono::seconds kPatience{2};
constexpr std::chrono::milliseconds kAgain{100};

}  // namespace

void SlurmdLook::start(const std::string& address, int port, Clock::time_point now) {
  auto fd = begin_connect(address, port);
  fd_ = fd ? std::move(*fd) : UniqueFd();
  under_way_ = true;
  connected_ = false;
  refused_ = !fd && fd.error().code == ErrorCode::kNotFound;
  possible_ = fd || fd.error().code != ErrorCode::kInvalid;
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

bool slurmd_serves(const std::string& address, int port, std::chrono::milliseconds patience) {
  using Clock = SlurmdLook::Clock;
  const auto until = Clock::now() + patience;
  SlurmdLook look;
  look.start(address, port, Clock::now());
  if (!look.is_possible()) return true;
  while (true) {
    const auto serves = look.step(Clock::now());
    if (serves.value_or(false)) return true;
    if (Clock::now() >= until) return false;
    if (serves) {
      std::this_thread::sleep_for(kAgain);
      look.start(address, port, Clock::now());
      continue;
    }
    auto entry = look.poll_entry();
    const auto left = std::min(until, look.deadline()) - Clock::now();
    ::poll(&entry, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
  }
}

}  // namespace acrf
