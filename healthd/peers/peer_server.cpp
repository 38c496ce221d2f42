// SPDX-License-Identifier: GPL-2.0-or-later
#include "peers/peer_server.h"

#include <netinet/tcp.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>

#include "common/file.h"
#include "core/text.h"
#include "peers/greeting.h"

namespace acrf {
namespace {

constexpr std::size_t kMostVisitors = 32;
constexpr std::chrono::seconds kGreetingTakes{3};
constexpr std::chrono::seconds kVisitorSilence{30};
constexpr std::chrono::seconds kAfterFailedGreeting{1};

}  // namespace

Status PeerServer::listen(int port) {
  UniqueFd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_any;
  address.sin6_port = htons(static_cast<std::uint16_t>(port));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = address.sin6_port;
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  socklen_t size = sizeof address;
  const int off = 0, on = 1;
  if (fd) {
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  } else {  // a machine without IPv6
    fd.reset(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    name = reinterpret_cast<const sockaddr*>(&any);
    size = sizeof any;
  }
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), name, size) != 0 || ::listen(fd.get(), 32) != 0)
    return system_error("listen for neighbours on port " + std::to_string(port));
  listener_ = std::move(fd);
  return Done{};
}

int PeerServer::port() const {
  sockaddr_in6 address{};
  socklen_t size = sizeof address;
  if (::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.sin6_port);  // at the same place in both families
}

void PeerServer::add_poll_fds(std::vector<pollfd>& fds) const {
  if (listener_) fds.push_back({listener_.get(), POLLIN, 0});
  for (const auto& visitor : visitors_) fds.push_back(visitor.socket.poll_entry());
}

void PeerServer::accept_all(Clock::time_point now) {
  for (std::size_t i = 0; listener_ && i < kMostVisitors; ++i) {
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (visitors_.size() < kMostVisitors) visitors_.push_back({LineSocket(std::move(fd)), "", now});
  }
}

void PeerServer::step(Clock::time_point now) {
  accept_all(now);
  for (auto& visitor : visitors_) {
    visitor.socket.pump();
    while (const auto line = visitor.socket.take_line()) answer(visitor, *line, now);
  }
  visitors_.remove_if([&](const Visitor& visitor) {
    const auto patience = visitor.name.empty() ? kGreetingTakes : kVisitorSilence;
    return !visitor.socket.is_open() || now - visitor.last_word > patience;
  });
}

void PeerServer::answer(Visitor& visitor, const std::string& line, Clock::time_point now) {
  if (!visitor.socket.is_open()) return;
  if (visitor.name.empty()) return greet(visitor, line, now);
  visitor.last_word = now;
  std::string_view word = line;
  if (word == "ping") return visitor.socket.send(answers_.is_alive() ? "alive" : "stuck");
  if (!take_prefix(word, "hear ")) return visitor.socket.close();
  const std::string node(word);
  visitor.socket.send("heard " + node + " " + answers_.hears(node));
}

void PeerServer::greet(Visitor& visitor, const std::string& line, Clock::time_point now) {
  if (now < no_greeting_before_ || !answers_.is_alive()) return visitor.socket.close();
  const auto said = read_hello(seals_, line, node_);
  const auto reply = said ? welcome(seals_, node_, *said) : Result<std::string>(said.error());
  if (!reply) {
    no_greeting_before_ = Clock::now() + kAfterFailedGreeting;
    spdlog::warn("a neighbour was turned away: {}", reply.error().sentence);
    return visitor.socket.close();
  }
  // A neighbour that comes again has lost its old connection.
  for (auto& other : visitors_)
    if (other.name == said->from) other.socket.close();
  visitor.name = said->from;
  visitor.last_word = now;
  visitor.socket.send(*reply);
  answers_.when_greeted(visitor.name);
}

void PeerServer::say_bye() {
  for (auto& visitor : visitors_)
    if (!visitor.name.empty()) visitor.socket.send("bye");
  visitors_.clear();
  listener_.reset();
}

}  // namespace acrf
