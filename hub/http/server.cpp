// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/server.h"

#include <netdb.h>
#include <spdlog/spdlog.h>

#include <filesystem>

#include "common/audit_json.h"
#include "common/audit_log.h"
#include "common/config_file.h"
#include "common/slurm_conf_file.h"
#include "core/text.h"
#include "hub/http/api.h"
#include "hub/http/guarded_server.h"
#include "hub/http/sim_link.h"

namespace acrf::hub {
namespace {

constexpr std::chrono::seconds kWriting{2};  // of an act's entry in the audit log

// Beside the program, where it is installed: PREFIX/sbin/acrf-hub and PREFIX/share/acrf.
std::string data_path(const std::string& name) {
  std::error_code error;
  const auto directory = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return (directory.parent_path() / "share/acrf" / name).string();
}

// Where select/acrf writes, when slurmctld runs on this host.
std::string decision_log() {
  const auto directory = slurm_conf_value(slurm_directory(), "StateSaveLocation");
  return directory.empty() ? "" : directory + "/acrf-decisions";
}

std::string directory_if_there(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? path : "";
}

// Every address that the name stands for.
Result<bool> is_local(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* raw = nullptr;
  if (const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &raw); code != 0)
    return Error{ErrorCode::kInvalid, "HubListen: " + host + ": " + ::gai_strerror(code)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(raw, ::freeaddrinfo);
  for (const auto* one = raw; one; one = one->ai_next) {
    char text[NI_MAXHOST] = "";
    ::getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
    if (!is_loopback(text)) return false;
  }
  return true;
}

Result<TlsContext> tls_of(const Config& config) {
  if (config.hub_certificate.empty()) return TlsContext(nullptr, SSL_CTX_free);
  const auto& key =
      config.hub_certificate_key.empty() ? config.hub_certificate : config.hub_certificate_key;
  return load_certificate(config.hub_certificate, key);
}

}  // namespace

std::string token_path(const Config& config) {
  return config.hub_token_file.empty() ? config.hub_dir + "/tokens" : config.hub_token_file;
}

Status check_listen_address(const ListenAddress& address, const Config& config) {
  if (!config.hub_certificate.empty()) return Done{};
  const auto local = is_local(address.host);
  if (!local) return local.error();
  if (*local) return Done{};
  return Error{ErrorCode::kDenied,
               "HubListen: " + address.host +
                   " can be reached from other hosts, and tokens must not cross the network in the "
                   "clear: set HubCertificate, or listen on 127.0.0.1"};
}

// In the order in which the parts need each other.
struct Server::Inside {
  Inside(const Parts& parts, TlsContext tls)
      : tokens(token_path(parts.config)),
        credentials(tokens, munge_seals(parts.munge_socket), parts.slurm_user, parts.test_cluster),
        audit_file(audit_path(parts.config.hub_dir)),
        audit({audit_file, {parts.config.audit_days, parts.config.audit_size_mb}, kWriting}),
        actions(recorded(parts)),
        api({parts.model, parts.history, credentials, actions,
             [&ingest = parts.ingest](const std::string& authorization, const std::string& body,
                                      const std::string& peer) {
               return ingest.take(authorization, body, peer, unix_ms_now());
             },
             data_path("openapi.json"), directory_if_there(data_path("web")), parts.sim_socket,
             decision_log(), parts.test_cluster},
            {}),
        http({}, std::move(tls)),
        sim(parts.sim_socket, parts.model.feed()) {
    api.add_to(http);
  }

  // The history gets what the hub's own audit log has.
  Actions recorded(const Parts& parts) {
    auto act =
        make_actions({parts.slurm, audit, parts.config, slurm_directory(), parts.test_cluster});
    return [this, act, &store = parts.store](const ActionRequest& request, const std::string& by) {
      auto outcome = act(request, by);
      audit.flush(kWriting);
      AuditQuery query;
      query.id = outcome.audit.value;
      const auto records = find_audit_records(audit_file, query);
      if (!records || records->empty()) return outcome;
      const auto& record = records->front();
      store.add_audit(record.entry.node, {record.id, record.entry.unix_ms, record.entry.incident,
                                          to_json(record).dump()});
      return outcome;
    };
  }

  TokenFile tokens;
  Credentials credentials;
  std::string audit_file;
  AuditLog audit;
  Actions actions;
  Api api;
  GuardedServer http;
  SimFeed sim;
};

Server::Server(Parts parts) : parts_(std::move(parts)) {}

Server::~Server() { stop(); }

Status Server::start() {
  const auto address = parse_listen_address(parts_.listen);
  if (!address)
    return Error{ErrorCode::kInvalid,
                 "HubListen: \"" + parts_.listen + "\" must be ADDRESS:PORT"};
  if (const auto allowed = check_listen_address(*address, parts_.config); !allowed) return allowed;
  auto tls = tls_of(parts_.config);
  if (!tls) return tls.error();
  auto inside = std::make_unique<Inside>(parts_, std::move(*tls));
  if (const auto checked = inside->tokens.check(); !checked) return checked;
  const auto port = inside->http.bind(address->host, address->port);
  if (!port) return port.error();
  port_ = *port;
  inside_ = std::move(inside);
  thread_ = std::thread([this] { inside_->http.serve(); });
  return Done{};
}

void Server::stop() {
  if (!thread_.joinable()) return;
  inside_->api.stop();
  parts_.model.feed().close();
  inside_->http.stop();
  thread_.join();
}

}  // namespace acrf::hub
