// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/api.h"

#include <spdlog/spdlog.h>

#include <chrono>

#include "core/text.h"
#include "hub/http/guarded_server.h"

namespace acrf::hub {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLocalFactor = 10;

// Paths that tell nothing of the cluster: the page, which asks for a token itself, and the API's
// description.
bool is_open(const httplib::Request& request) {
  const bool is_data = starts_with(request.path, "/v1/") || request.path == "/metrics";
  return !is_data && (request.method == "GET" || request.method == "HEAD");
}

bool is_report(const httplib::Request& request) {
  return request.method == "POST" && request.path == "/v1/report";
}

Claim claim_of(const httplib::Request& request) {
  return {request.remote_addr, request.get_header_value("Authorization"),
          request.get_header_value("Host"), request.get_header_value("X-ACRF-Confirm")};
}

std::int64_t now_s() { return unix_ms_now() / 1000; }

}  // namespace

std::int64_t unix_ms_now() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid: return 400;
    case ErrorCode::kNotFound: return 404;
    case ErrorCode::kUnavailable: return 503;
    case ErrorCode::kDenied: return 403;
    case ErrorCode::kSystem: break;
  }
  return 500;
}

void answer(httplib::Response& response, int status, const Json& body) {
  response.status = status;
  // Texts of jobs and logs are anybody's: what is no UTF-8 must not cost the answer.
  response.set_content(body.dump(-1, ' ', false, Json::error_handler_t::replace),
                       "application/json");
}

void answer_error(httplib::Response& response, int status, const std::string& sentence) {
  answer(response, status, {{"error", sentence}});
}

Api::Api(ApiParts parts, ApiLimits limits)
    : parts_(std::move(parts)),
      events_(parts_.model.feed(), limits.followers, limits.followers_per_address),
      metrics_(parts_.decision_log),
      requests_(limits.requests_per_s, limits.request_burst),
      local_requests_(limits.requests_per_s * kLocalFactor, limits.request_burst * kLocalFactor),
      failures_(limits.failures_per_s, limits.failure_burst) {}

void Api::add_to(httplib::Server& server) {
  server.set_pre_routing_handler([this](const Request& request, Response& response) {
    using Handled = httplib::Server::HandlerResponse;
    response.set_header("X-Content-Type-Options", "nosniff");
    if (!is_open(request)) response.set_header("Cache-Control", "no-store");
    if (admit(request, response)) return Handled::Unhandled;
    // A body that nobody has read must not be taken for the next request.
    GuardedServer::close_after_this();
    return Handled::Handled;
  });
  server.set_error_handler([](const Request& request, Response& response) {
    if (!response.body.empty()) return;
    if (request.method != "GET") GuardedServer::close_after_this();
    const auto* what = response.status == 404   ? "there is nothing at this path"
                       : response.status == 413 ? "the request is too large"
                                                : "the request is malformed";
    answer_error(response, response.status, what);
  });
  server.set_exception_handler(
      [](const Request& request, Response& response, std::exception_ptr thrown) {
        try {
          std::rethrow_exception(thrown);
        } catch (const std::exception& error) {
          spdlog::error("{} {}: {}", request.method, request.path, error.what());
        } catch (...) {
          spdlog::error("{} {}: unknown exception", request.method, request.path);
        }
        answer_error(response, 500, "the hub failed to answer");
      });
  server.set_logger(
      [this](const Request&, const Response& response) { metrics_.note_answer(response.status); });
  const std::string name = "([^/]+)";
  get(server, "/v1/fleet", &Api::fleet);
  get(server, "/v1/stats", &Api::stats);
  get(server, "/v1/status", &Api::status);
  get(server, "/v1/brakes", &Api::brakes);
  get(server, "/v1/nodes", &Api::nodes);
  get(server, "/v1/nodes/" + name, &Api::node);
  get(server, "/v1/nodes/" + name + "/history", &Api::node_history);
  get(server, "/v1/gpus", &Api::gpus);
  get(server, "/v1/gpus/" + name, &Api::gpu);
  get(server, "/v1/incidents", &Api::incidents);
  get(server, "/v1/incidents/" + name, &Api::incident);
  get(server, "/v1/audit", &Api::audit);
  get(server, "/v1/jobs", &Api::jobs);
  get(server, "/v1/jobs/" + name, &Api::job);
  get(server, "/v1/queue", &Api::queue);
  get(server, "/v1/sim", &Api::sim_state);
  add_pages(server);
  add_posts(server);
}

void Api::get(httplib::Server& server, const std::string& pattern, Reader reader) {
  server.Get(pattern, [this, reader](const Request& request, Response& response) {
    const auto read = (this->*reader)(request);
    if (read) return answer(response, 200, *read);
    answer_error(response, status_of(read.error().code), read.error().sentence);
  });
}

bool Api::is_within_rate(const Request& request, Response& response) {
  if (is_report(request)) return true;  // as many as nodes; wrong ones count as failures
  auto& rate = is_loopback(request.remote_addr) ? local_requests_ : requests_;
  if (rate.take(request.remote_addr, unix_ms_now())) return true;
  response.set_header("Retry-After", "1");
  answer_error(response, 429, "too many requests from this address");
  return false;
}

Admission Api::admission_of(const Request& request) {
  const auto claim = claim_of(request);
  if (request.method == "POST") return parts_.credentials.may_try_to_act(claim, now_s());
  return parts_.credentials.may_read(claim, now_s());
}

bool Api::admit(const Request& request, Response& response) {
  if (!is_within_rate(request, response)) return false;
  if (!request.get_header_value("Content-Encoding").empty()) {
    answer_error(response, 415, "Content-Encoding: bodies are taken as they are");
    return false;
  }
  if (is_open(request)) return true;
  const bool is_first_time = failures_.has(request.remote_addr, unix_ms_now());
  if (!is_first_time) {
    response.set_header("Retry-After", "2");
    answer_error(response, 429, "too many wrong credentials from this address");
    return false;
  }
  if (is_report(request)) return true;
  const auto admission = admission_of(request);
  if (!admission.is_refused()) return true;
  if (!claim_of(request).authorization.empty()) failures_.take(request.remote_addr, unix_ms_now());
  if (admission.refusal.status == 401) response.set_header("WWW-Authenticate", "Bearer");
  answer_error(response, admission.refusal.status, admission.refusal.sentence);
  return false;
}

void Api::add_posts(httplib::Server& server) {
  server.Post("/v1/report",
              [this](const Request& request, Response& response) { report(request, response); });
  server.Post("/v1/actions",
              [this](const Request& request, Response& response) { act(request, response); });
  server.Post("/v1/sim", [this](const Request& request, Response& response) {
    const auto admission = parts_.credentials.may_act(claim_of(request), request.body, now_s());
    if (!admission.is_refused()) return steer_sim(request, response);
    failures_.take(request.remote_addr, unix_ms_now());
    answer_error(response, admission.refusal.status, admission.refusal.sentence);
  });
}

void Api::report(const Request& request, Response& response) {
  const auto taken = parts_.take_report(request.get_header_value("Authorization"), request.body,
                                        request.remote_addr);
  response.status = taken.status;
  response.set_content(taken.body, "application/json");
  if (taken.status == 401 || taken.status == 403)
    failures_.take(request.remote_addr, unix_ms_now());
}

void Api::act(const Request& request, Response& response) {
  const auto admission = parts_.credentials.may_act(claim_of(request), request.body, now_s());
  if (admission.is_refused()) {
    failures_.take(request.remote_addr, unix_ms_now());
    return answer_error(response, admission.refusal.status, admission.refusal.sentence);
  }
  const auto wanted = parse_action(request.body);
  if (!wanted) return answer_error(response, 400, wanted.error().sentence);
  if (wanted->action == "inject" && !parts_.test_cluster)
    return answer_error(response, 403, "faults are injected on a test cluster only");
  if (!wanted->node.empty() && !parts_.model.node(wanted->node))
    return answer_error(response, 404, "slurmctld knows no node " + wanted->node);
  const auto outcome = parts_.actions(*wanted, admission.caller.name);
  metrics_.note_action(wanted->action, name_of(outcome.result.state));
  answer(response, 200,
         {{"audit", outcome.audit.value},
          {"result", name_of(outcome.result.state)},
          {"text", outcome.result.sentence}});
}

}  // namespace acrf::hub
