// SPDX-License-Identifier: GPL-2.0-or-later
// Of Api: incidents, their way through the cluster, and the audit log of all nodes.
#include "hub/http/api.h"
#include "hub/http/parameters.h"
#include "hub/http/trace.h"

namespace acrf::hub {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostSteps = 500;  // of one incident's way

Json parse_all(const std::vector<std::string>& objects) {
  Json all = Json::array();
  for (const auto& text : objects) {
    auto object = Json::parse(text, nullptr, false);
    if (object.is_object()) all.push_back(std::move(object));
  }
  return all;
}

}  // namespace

Result<Json> Api::incidents(const Request& request) {
  Parameters parameters(request);
  IncidentQuery query;
  query.node = parameters.text("node");
  query.fault_class = parameters.text("class");
  query.open_only = parameters.flag("open").value_or(false);
  query.since_ms = parameters.time_ms("since", 0);
  query.after = parameters.text("after");
  query.limit = parameters.limit();
  if (!parameters.status()) return parameters.status().error();
  const auto found = parts_.history.incidents(query);
  if (!found) return found.error();
  return Json{{"incidents", parse_all(*found)}};
}

Result<Json> Api::incident(const Request& request) {
  const std::string id = request.matches[1];
  const auto object = find_incident(id);
  if (!object) return object.error();
  Json incident = *object;
  Trace trace;
  trace.add_incident(incident);
  AuditFilter filter;
  filter.incident = id;
  filter.limit = kMostSteps;
  const auto entries = parts_.history.audit(filter);
  if (!entries) return entries.error();
  for (const auto& entry : *entries) {
    const auto record = Json::parse(entry.json, nullptr, false);
    if (record.is_object()) trace.add_audit(record);
  }
  if (const auto node = parts_.model.node(incident.value("node", "")))
    trace.add_reason(node->node.reason, id);
  for (const auto job : trace.requeued_jobs())
    if (const auto look = parts_.model.job(job)) trace.add_restart(*look);
  incident["trace"] = trace.to_json();
  return incident;
}

// The model knows what has just come in, the history what was long ago.
Result<Json> Api::find_incident(const std::string& id) {
  for (const auto& known : parts_.model.recent_incidents())
    if (known.id == id)
      if (auto object = Json::parse(known.json, nullptr, false); object.is_object()) return object;
  IncidentQuery query;
  query.id = id;
  query.limit = 1;
  const auto found = parts_.history.incidents(query);
  if (!found) return found.error();
  auto objects = parse_all(*found);
  if (objects.empty()) return Error{ErrorCode::kNotFound, "there is no incident " + id};
  return Json(objects.front());
}

Result<Json> Api::audit(const Request& request) {
  Parameters parameters(request);
  AuditFilter filter;
  filter.node = parameters.text("node");
  filter.incident = parameters.text("incident");
  filter.since_ms = parameters.time_ms("since", 0);
  filter.after = parameters.number("after", 1, INT64_MAX / 2, 0);
  filter.limit = parameters.limit();
  if (!parameters.status()) return parameters.status().error();
  const auto found = parts_.history.audit(filter);
  if (!found) return found.error();
  Json entries = Json::array();
  for (const auto& entry : *found) {
    auto object = Json::parse(entry.json, nullptr, false);
    if (!object.is_object()) continue;
    object["row"] = entry.row;
    entries.push_back(std::move(object));
  }
  return Json{{"audit", std::move(entries)}};
}

}  // namespace acrf::hub
