// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/guarded_server.h"

#include <sys/socket.h>

#include <cstring>

#include "common/file.h"

namespace acrf::hub {
namespace {

thread_local bool close_after = false;

}  // namespace

GuardedServer::GuardedServer(ServerLimits limits, TlsContext tls)
    : limits_(std::move(limits)), tls_(std::move(tls)) {
  set_payload_max_length(limits_.body_bytes);
  new_task_queue = [this] {
    auto* pool = new WorkerPool(limits_.threads, limits_.waiting);  // httplib deletes it
    pool_ = pool;
    return pool;
  };
}

Result<int> GuardedServer::bind(const std::string& host, int port) {
  errno = 0;
  const bool bound = port == 0 ? (port = bind_to_any_port(host)) > 0 : bind_to_port(host, port);
  if (!bound)
    return Error{ErrorCode::kSystem, "listen on " + host + " port " + std::to_string(port) + ": " +
                                         (errno ? std::strerror(errno) : "no such address")};
  ::listen(svr_sock_, limits_.backlog);  // httplib's own is 5
  return port;
}

void GuardedServer::close_after_this() { close_after = true; }

bool GuardedServer::process_and_close_socket(socket_t socket) {
  Connection connection(socket, tls_.get(), limits_.connection);
  if (WorkerPool::is_turning_away()) return false;
  if (!connection.greet()) return false;
  const WorkerPool* pool = pool_;
  for (std::size_t left = limits_.requests; left > 0; --left) {
    const bool first = left == limits_.requests;
    const auto stop = [&] { return svr_sock_ == INVALID_SOCKET || (!first && pool->is_busy()); };
    if (!connection.wait_for_request(stop)) break;
    close_after = false;
    bool closed = false;
    const bool served = process_request(connection, left == 1, closed, nullptr);
    if (close_after) connection.end_gently();
    if (!served || closed || close_after) break;
  }
  return true;
}

}  // namespace acrf::hub
