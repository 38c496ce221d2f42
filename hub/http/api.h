// SPDX-License-Identifier: GPL-2.0-or-later
// The hub's HTTP API: which path answers what, and who may ask. hub/openapi.json describes it.
#pragma once

#include <httplib.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "core/result.h"
#include "hub/history.h"
#include "hub/http/actions.h"
#include "hub/http/credentials.h"
#include "hub/http/event_stream.h"
#include "hub/http/metrics.h"
#include "hub/http/rate_limit.h"
#include "hub/ingest.h"
#include "hub/model.h"

namespace acrf::hub {

struct ApiLimits {
  double requests_per_s = 50, request_burst = 300;  // of one address; ten times from this host
  double failures_per_s = 0.5, failure_burst = 20;  // wrong credentials of one address
  std::size_t followers = 64;                       // of the feed
  std::size_t followers_per_address = 16;
};

struct ApiParts {
  Model& model;
  const History& history;
  Credentials& credentials;
  Actions& actions;
  // POST /v1/report, which has an authentication of its own.
  std::function<Answer(const std::string& authorization, const std::string& body,
                       const std::string& peer)>
      take_report;
  std::string openapi_file;  // empty: none is served
  std::string web_dir;       // the page; empty: there is none
  std::string sim_socket;    // empty: no simulator is attached
  std::string decision_log;  // select/acrf's; empty: none
  bool test_cluster = false;
};

class Api {
 public:
  Api(ApiParts parts, ApiLimits limits);

  // The server must not serve yet, and must stop before this ends.
  void add_to(httplib::Server& server);
  // Followers of the feed are let go, so that the server can stop.
  void stop() { events_.stop(); }

 private:
  using Request = httplib::Request;
  using Response = httplib::Response;
  using Json = nlohmann::ordered_json;
  using Reader = Result<Json> (Api::*)(const Request&);

  bool admit(const Request& request, Response& response);
  bool is_within_rate(const Request& request, Response& response);
  Admission admission_of(const Request& request);
  void get(httplib::Server& server, const std::string& pattern, Reader reader);
  void add_pages(httplib::Server& server);
  void add_posts(httplib::Server& server);

  Result<Json> fleet(const Request& request);
  Result<Json> stats(const Request& request);
  Result<Json> status(const Request& request);
  Result<Json> brakes(const Request& request);
  Result<Json> nodes(const Request& request);
  Result<Json> node(const Request& request);
  Result<Json> node_history(const Request& request);
  Result<Json> gpus(const Request& request);
  Result<Json> gpu(const Request& request);
  Result<Json> incidents(const Request& request);
  Result<Json> incident(const Request& request);
  Result<Json> audit(const Request& request);
  Result<Json> jobs(const Request& request);
  Result<Json> job(const Request& request);
  Result<Json> queue(const Request& request);
  Result<Json> sim_state(const Request& request);

  Result<Json> find_incident(const std::string& id);
  Json access_of(const Request& request);

  void act(const Request& request, Response& response);
  void steer_sim(const Request& request, Response& response);
  void report(const Request& request, Response& response);

  ApiParts parts_;
  EventStream events_;
  HubMetrics metrics_;
  RateLimit requests_, local_requests_, failures_;
};

// What came of a request, in the form that every error has.
void answer(httplib::Response& response, int status, const nlohmann::ordered_json& body);
void answer_error(httplib::Response& response, int status, const std::string& sentence);
int status_of(ErrorCode code);

std::int64_t unix_ms_now();

}  // namespace acrf::hub
