// SPDX-License-Identifier: GPL-2.0-or-later
#include "control.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/file.h"

namespace acrf::sim {
namespace {

constexpr std::size_t kLongestLine = 64 << 10;
constexpr int kClient_ms = 500;  // a client that says nothing for longer has to come again

// The line without its end; empty when none came in time.
std::string read_line(int client) {
  std::string line;
  char buffer[4096];
  while (line.size() < kLongestLine) {
    pollfd readable{client, POLLIN, 0};
    if (::poll(&readable, 1, kClient_ms) <= 0) return "";
    const auto n = ::recv(client, buffer, sizeof buffer, 0);
    if (n <= 0) return "";
    line.append(buffer, static_cast<std::size_t>(n));
    if (const auto end = line.find('\n'); end != std::string::npos) return line.substr(0, end);
  }
  return "";
}

}  // namespace

Result<Control> Control::open(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path)
    return Error{ErrorCode::kInvalid, path + ": too long for a Unix socket"};
  UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener) return system_error("make a Unix socket");
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ::unlink(path.c_str());
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(listener.get(), 16) != 0)
    return system_error("listen at " + path);
  return Control(std::move(listener));
}

void Control::serve(const Answer& answer, int wait_ms) {
  pollfd waiting{listener_.get(), POLLIN, 0};
  if (::poll(&waiting, 1, wait_ms) <= 0) return;
  const UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client) return;
  const auto line = read_line(client.get());
  const auto reply = answer(line) + "\n";
  ::send(client.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
}

}  // namespace acrf::sim
