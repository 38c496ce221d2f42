// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/connection.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace acrf::hub {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kBuffer = 8192;
constexpr milliseconds kLook{100};  // between two looks at whether to stop
constexpr milliseconds kGoodbye{500};
constexpr std::size_t kMostUnread = 1 << 20;

Error tls_error(const std::string& doing) {
  const auto code = ERR_get_error();
  ERR_clear_error();
  const char* text = ERR_reason_error_string(code);
  return {ErrorCode::kInvalid, doing + ": " + (text ? text : "OpenSSL does not say why")};
}

struct Address {
  std::string text;
  int port = -1;
};

Address address_of(int socket, int (*ask)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (ask(socket, address, &size) != 0) return {};
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    return {text, ntohs(v4->sin_port)};
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
  ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
  std::string plain = text;
  if (plain.starts_with("::ffff:") && plain.find('.') != std::string::npos) plain.erase(0, 7);
  return {plain, ntohs(v6->sin6_port)};
}

}  // namespace

Result<TlsContext> load_certificate(const std::string& certificate, const std::string& key) {
  TlsContext context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context) return tls_error("TLS");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) != 1)
    return tls_error("HubCertificate " + certificate);
  if (SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1)
    return tls_error("HubCertificateKey " + key);
  if (SSL_CTX_check_private_key(context.get()) != 1)
    return tls_error("HubCertificateKey " + key + " is not the certificate's");
  return context;
}

Connection::Connection(int socket, SSL_CTX* tls, const ConnectionLimits& limits)
    : fd_(socket), limits_(limits) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  auto address = address_of(socket, ::getpeername);
  peer_ = std::move(address.text);
  peer_port_ = address.port;
  if (!tls) return;
  tls_ = SSL_new(tls);
  if (tls_) SSL_set_fd(tls_, socket);
}

Connection::~Connection() {
  if (!tls_) return;
  SSL_shutdown(tls_);  // a word of goodbye; nobody waits for the answer
  SSL_free(tls_);
}

bool Connection::greet() {
  if (!tls_) return true;
  const auto deadline = Clock::now() + limits_.handshake;
  for (;;) {
    const int done = SSL_accept(tls_);
    if (done == 1) return true;
    const auto need = need_of_tls(done);
    if (need == Need::kEnd || !wait(need, deadline)) return false;
  }
}

Connection::Need Connection::need_of_tls(int result) {
  const int error = SSL_get_error(tls_, result);
  ERR_clear_error();
  if (error == SSL_ERROR_WANT_READ) return Need::kRead;
  if (error == SSL_ERROR_WANT_WRITE) return Need::kWrite;
  return Need::kEnd;
}

bool Connection::wait(Need need, Clock::time_point deadline) const {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now()).count();
  if (left <= 0) return false;
  pollfd look{fd_.get(), static_cast<short>(need == Need::kRead ? POLLIN : POLLOUT), 0};
  return ::poll(&look, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000))) > 0;
}

bool Connection::wait_for_request(const std::function<bool()>& stop) {
  const auto deadline = Clock::now() + limits_.idle;
  bool come = is_readable();
  while (!come && !stop() && Clock::now() < deadline)
    come = wait(Need::kRead, std::min(deadline, Clock::now() + kLook));
  request_ends_ = Clock::now() + limits_.request;
  bytes_left_ = limits_.request_bytes;
  return come;
}

void Connection::end_gently() {
  ::shutdown(fd_.get(), SHUT_WR);
  const auto deadline = Clock::now() + kGoodbye;
  char unread[kBuffer];
  for (std::size_t left = kMostUnread; left > 0 && wait(Need::kRead, deadline);) {
    const auto n = ::recv(fd_.get(), unread, sizeof unread, 0);
    if (n <= 0) return;
    left -= std::min(left, static_cast<std::size_t>(n));
  }
}

bool Connection::is_readable() const {
  return taken_ < buffer_.size() || (tls_ && SSL_pending(tls_) > 0);
}

bool Connection::is_writable() const {
  pollfd look{fd_.get(), POLLOUT | POLLRDHUP, 0};
  return ::poll(&look, 1, 0) >= 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0;
}

Connection::Need Connection::attempt_read(char* data, std::size_t size, ssize_t& n) {
  if (tls_) {
    n = SSL_read(tls_, data, static_cast<int>(size));
    return n > 0 ? Need::kNothing : need_of_tls(static_cast<int>(n));
  }
  n = ::recv(fd_.get(), data, size, 0);
  if (n > 0) return Need::kNothing;
  return n < 0 && (errno == EAGAIN || errno == EINTR) ? Need::kRead : Need::kEnd;
}

Connection::Need Connection::attempt_write(const char* data, std::size_t size, ssize_t& n) {
  if (tls_) {
    n = SSL_write(tls_, data, static_cast<int>(std::min<std::size_t>(size, 1 << 20)));
    return n > 0 ? Need::kNothing : need_of_tls(static_cast<int>(n));
  }
  n = ::send(fd_.get(), data, size, MSG_NOSIGNAL);
  if (n >= 0) return Need::kNothing;
  return errno == EAGAIN || errno == EINTR ? Need::kWrite : Need::kEnd;
}

bool Connection::fill() {
  if (bytes_left_ == 0) return false;
  buffer_.resize(kBuffer);
  taken_ = 0;
  for (;;) {
    ssize_t n = 0;
    const auto need = attempt_read(buffer_.data(), std::min(kBuffer, bytes_left_), n);
    if (need == Need::kNothing) {
      buffer_.resize(static_cast<std::size_t>(n));
      bytes_left_ -= static_cast<std::size_t>(n);
      return Clock::now() < request_ends_;
    }
    if (need == Need::kEnd || !wait(need, request_ends_)) break;
  }
  buffer_.clear();
  return false;
}

ssize_t Connection::read(char* data, std::size_t size) {
  if (taken_ == buffer_.size() && !fill()) return -1;
  const auto n = std::min(size, buffer_.size() - taken_);
  std::memcpy(data, buffer_.data() + taken_, n);
  taken_ += n;
  return static_cast<ssize_t>(n);
}

ssize_t Connection::write(const char* data, std::size_t size) {
  const auto deadline = Clock::now() + limits_.response;
  std::size_t written = 0;
  while (written < size) {
    ssize_t n = 0;
    const auto need = attempt_write(data + written, size - written, n);
    if (need == Need::kNothing) {
      written += static_cast<std::size_t>(n);
    } else if (need == Need::kEnd || !wait(need, deadline)) {
      return -1;
    }
    if (Clock::now() >= deadline && written < size) return -1;
  }
  return static_cast<ssize_t>(size);
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip = peer_;
  port = peer_port_;
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  auto address = address_of(fd_.get(), ::getsockname);
  ip = std::move(address.text);
  port = address.port;
}

}  // namespace acrf::hub
