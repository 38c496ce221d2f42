// SPDX-License-Identifier: GPL-2.0-or-later
// Of Api: the page, the API's description, metrics, and the simulator behind its socket.
#include "common/file.h"
#include "hub/http/api.h"
#include "hub/http/sim_link.h"

namespace acrf::hub {
namespace {

using Json = nlohmann::ordered_json;

// Nothing from elsewhere, and in nobody's frame.
const httplib::Headers kPageHeaders = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
     "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-cache"}};

}  // namespace

void Api::add_pages(httplib::Server& server) {
  if (!parts_.web_dir.empty()) server.set_mount_point("/", parts_.web_dir, kPageHeaders);
  server.Get("/healthz", [this](const Request&, Response& response) {
    const bool ready = parts_.model.knows_cluster();
    answer(response, ready ? 200 : 503,
           ready ? Json{{"status", "ok"}} : Json{{"error", "slurmctld has not answered yet"}});
  });
  server.Get("/openapi.json", [this](const Request&, Response& response) {
    const auto text = read_file(parts_.openapi_file);
    if (!text) return answer_error(response, 404, "the description is not installed");
    response.set_content(*text, "application/json");
  });
  server.Get("/metrics", [this](const Request&, Response& response) {
    response.set_content(
        metrics_.text(parts_.model, parts_.history, events_.followers(), unix_ms_now()),
        "text/plain; version=0.0.4; charset=utf-8");
  });
  server.Get("/v1/events", [this](const Request& request, Response& response) {
    events_.follow(request, response);
  });
}

Json Api::access_of(const Request& request) {
  const Claim claim{request.remote_addr, request.get_header_value("Authorization"),
                    request.get_header_value("Host"), "yes"};
  const auto now_s = unix_ms_now() / 1000;
  const auto reader = parts_.credentials.may_read(claim, now_s);
  const bool may_act = !parts_.credentials.may_try_to_act(claim, now_s).is_refused();
  return {{"name", reader.caller.name},
          {"role", name_of(may_act ? Role::kAdmin : reader.caller.role)},
          {"may_act", may_act},
          {"may_inject", may_act && parts_.test_cluster}};
}

Result<Json> Api::sim_state(const Request&) {
  if (parts_.sim_socket.empty()) return Error{ErrorCode::kNotFound, "no simulator is attached"};
  return ask_simulator(parts_.sim_socket, "{}");
}

void Api::steer_sim(const Request& request, Response& response) {
  if (parts_.sim_socket.empty()) return answer_error(response, 404, "no simulator is attached");
  const auto wanted = Json::parse(request.body, nullptr, false);
  if (!wanted.is_object()) return answer_error(response, 400, "the body must be a JSON object");
  const auto state = ask_simulator(parts_.sim_socket, wanted.dump());
  if (!state) return answer_error(response, status_of(state.error().code), state.error().sentence);
  answer(response, state->contains("error") ? 400 : 200, *state);
}

}  // namespace acrf::hub
