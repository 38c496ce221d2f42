// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/server.h"

#include <httplib.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <thread>

#include "core/text.h"
#include "hub/model_json.h"

namespace acrf::hub {
namespace {

constexpr std::size_t kLongestBody = 8 << 20;

std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

struct Server::Inside {
  explicit Inside(ServerParts given) : parts(std::move(given)) {}
  ServerParts parts;
  httplib::Server server;
  std::thread thread;
};

Server::Server(ServerParts parts) : inside_(std::make_unique<Inside>(std::move(parts))) {}

Server::~Server() { stop(); }

Status Server::start() {
  auto& [parts, server, thread] = *inside_;
  const auto colon = parts.listen.rfind(':');
  const auto port = colon == std::string::npos
                        ? std::nullopt
                        : parse_unsigned(std::string_view(parts.listen).substr(colon + 1));
  if (!port || *port == 0 || *port > 65535)
    return Error{ErrorCode::kInvalid, "HubListen=" + parts.listen + ": must be ADDRESS:PORT"};
  const auto address = parts.listen.substr(0, colon);
  server.set_keep_alive_max_count(1);
  server.set_payload_max_length(kLongestBody);
  server.Post("/v1/report", [&](const httplib::Request& request, httplib::Response& reply) {
    const auto answer = parts.ingest.take(request.get_header_value("Authorization"), request.body,
                                          request.remote_addr, unix_ms());
    reply.status = answer.status;
    reply.set_content(answer.body, "application/json");
  });
  server.Get("/healthz", [](const httplib::Request&, httplib::Response& reply) {
    reply.set_content("{\"status\":\"ok\"}", "application/json");
  });
  server.Get("/v1/stats", [&](const httplib::Request&, httplib::Response& reply) {
    reply.set_content(to_json(parts.model.stats(unix_ms())).dump(), "application/json");
  });
  if (!server.bind_to_port(address.c_str(), static_cast<int>(*port)))
    return Error{ErrorCode::kSystem, "HubListen=" + parts.listen + ": cannot be listened on"};
  thread = std::thread([&server] { server.listen_after_bind(); });
  return Done{};
}

void Server::stop() {
  inside_->parts.model.feed().close();
  if (!inside_->thread.joinable()) return;
  inside_->server.stop();
  inside_->thread.join();
}

}  // namespace acrf::hub
