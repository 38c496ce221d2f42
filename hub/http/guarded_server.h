// SPDX-License-Identifier: GPL-2.0-or-later
// cpp-httplib's server with connections of our own (hub/http/connection.h), so that slow and greedy
// clients cost no more than a thread for some seconds.
#pragma once

#include <httplib.h>

#include "hub/http/connection.h"
#include "hub/http/worker_pool.h"

namespace acrf::hub {

struct ServerLimits {
  ConnectionLimits connection;
  std::size_t body_bytes = 4'194'304;
  std::size_t threads = 96;
  std::size_t waiting = 1024;   // connections that nobody has looked at yet
  std::size_t requests = 1000;  // on one connection
  int backlog = 4096;
};

class GuardedServer : public httplib::Server {
 public:
  // `tls` may be null.
  GuardedServer(ServerLimits limits, TlsContext tls);

  // The port, when it listens; `port` 0: any.
  Result<int> bind(const std::string& host, int port);
  // Serves until stop().
  void serve() { listen_after_bind(); }

  // From a handler: no further request is read from this connection, for the body of this one was
  // not.
  static void close_after_this();

 private:
  bool process_and_close_socket(socket_t socket) override;

  const ServerLimits limits_;
  const TlsContext tls_;
  std::atomic<WorkerPool*> pool_{nullptr};
};

}  // namespace acrf::hub
