// SPDX-License-Identifier: GPL-2.0-or-later
// A stand-in for somebody's HTTP endpoint, on this host.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/unique_fd.h"
#include "core/text.h"

namespace acrf {

inline std::string http(const std::string& body, int status = 200, const std::string& more = "") {
  return "HTTP/1.1 " + std::to_string(status) +
         " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n" +
         more + "\r\n" + body;
}

class Endpoint {
 public:
  // The answer to the n-th request, counted from 0; an empty one: none, and the connection stays.
  using Answer = std::function<std::string(int n, const std::string& request)>;

  explicit Endpoint(Answer answer, int port = 0)
      : answer_(std::move(answer)), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    ::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(socket_.get(), 8);
    socklen_t size = sizeof address;
    ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  // Answers each connection with the same bytes, or never.
  explicit Endpoint(std::string reply, bool answers = true)
      : Endpoint([reply = std::move(reply), answers](int, const std::string&) {
          return answers ? reply : std::string();
        }) {}
  ~Endpoint() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }
  int requests() const { return static_cast<int>(all().size()); }
  std::string last_request() const { return all().empty() ? "" : all().back(); }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve() {
    std::vector<UniqueFd> open;
    while (true) {
      UniqueFd peer(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!peer) return;
      std::string request;
      char buffer[4096];
      while (!is_whole(request)) {
        const ssize_t n = ::recv(peer.get(), buffer, sizeof buffer, 0);
        if (n <= 0) break;
        request.append(buffer, static_cast<std::size_t>(n));
      }
      const auto reply = answer_(requests(), request);
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      if (reply.empty()) {
        open.push_back(std::move(peer));
      } else {
        ::send(peer.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
      }
    }
  }

  static bool is_whole(const std::string& request) {
    const auto end = request.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const auto mark = request.find("Content-Length: ");
    if (mark == std::string::npos) return true;
    std::string_view rest = std::string_view(request).substr(mark + 16);
    return request.size() >= end + 4 + take_unsigned(rest).value_or(0);
  }

  Answer answer_;
  UniqueFd socket_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace acrf
