// SPDX-License-Identifier: GPL-2.0-or-later
// One client's connection, with TLS or without. A client that sends or takes its bytes slowly, or
// sends too many, is left: whole requests have a time limit and a size, not only single reads.
#pragma once

#include <httplib.h>
#include <openssl/ssl.h>

#include <chrono>
#include <memory>
#include <string>

#include "common/unique_fd.h"
#include "core/result.h"

namespace acrf::hub {

using TlsContext = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

// Certificate chain and key in PEM. TLS 1.2 at least.
Result<TlsContext> load_certificate(const std::string& certificate, const std::string& key);

struct ConnectionLimits {
  std::chrono::milliseconds handshake{5000};
  std::chrono::milliseconds request{10'000};   // from its first byte to its last
  std::chrono::milliseconds response{30'000};  // the same of the answer; of each event of a feed
  std::chrono::milliseconds idle{5000};        // between two requests
  std::size_t request_bytes = 4'300'000;       // headers and body
};

class Connection : public httplib::Stream {
 public:
  // Owns the socket. `tls` may be null; it outlives this.
  Connection(int socket, SSL_CTX* tls, const ConnectionLimits& limits);
  ~Connection() override;

  // The TLS handshake; at once without TLS.
  bool greet();

  // Waits for the first byte of a request; false: none came in time, or `stop` said so.
  bool wait_for_request(const std::function<bool()>& stop);

  // Says that nothing more comes, and takes what the client still sends, for a moment: a socket
  // that is closed with unread bytes takes the answer back.
  void end_gently();

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* data, std::size_t size) override;
  ssize_t write(const char* data, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return fd_.get(); }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Need { kNothing, kRead, kWrite, kEnd };

  Need attempt_read(char* data, std::size_t size, ssize_t& n);
  Need attempt_write(const char* data, std::size_t size, ssize_t& n);
  Need need_of_tls(int result);
  bool wait(Need need, Clock::time_point deadline) const;
  bool fill();

  UniqueFd fd_;
  SSL* tls_ = nullptr;
  const ConnectionLimits& limits_;
  std::string peer_;
  int peer_port_ = -1;
  Clock::time_point request_ends_{};
  std::size_t bytes_left_ = 0;  // of the request
  std::string buffer_;          // read and not yet taken
  std::size_t taken_ = 0;
};

}  // namespace acrf::hub
