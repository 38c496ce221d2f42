// SPDX-License-Identifier: GPL-2.0-or-later
// Of Api: nodes, GPUs and their histories.
#include "hub/http/api.h"
#include "hub/http/parameters.h"

namespace acrf::hub {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownIncidents = 50;

Json to_json(const NodeLook& node) {
  return {{"name", node.name},
          {"state", name_of(node.state)},
          {"leaf", node.leaf},
          {"pod", node.pod},
          {"partitions", node.partitions},
          {"slurm_state", node.slurm_state},
          {"reason", node.reason},
          {"verdict", node.verdict},
          {"gpus", node.gpus},
          {"jobs", node.jobs},
          {"last_report_ms", node.last_report_ms},
          {"risk", node.risk}};
}

Json to_json(const GpuLook& look) {
  Json all = {{"index", look.gpu.index},   {"uuid", look.gpu.uuid},
              {"pci", look.gpu.pci},       {"name", look.gpu.name},
              {"vendor", look.gpu.vendor}, {"state", name_of(look.gpu.state)}};
  all["job"] = look.job ? Json(*look.job) : Json();
  for (std::size_t i = 0; i < kGpuMetrics.size(); ++i)
    all[std::string(kGpuMetrics[i])] = look.values[i] == kNoValue ? Json() : Json(look.values[i]);
  return all;
}

Json gpu_of(const NodeDetail& detail, const GpuLook& look) {
  auto all = to_json(look);
  all["node"] = detail.node.name;
  return all;
}

std::optional<PartState> state_parameter(Parameters& parameters) {
  const auto name = parameters.text("state");
  if (name.empty()) return std::nullopt;
  const auto state = parse_part_state(name);
  if (!state) parameters.complain("state", "\"" + name + "\" is no state");
  return state;
}

Json parsed(const std::vector<std::string>& objects) {
  Json all = Json::array();
  for (const auto& text : objects) {
    auto object = Json::parse(text, nullptr, false);
    if (!object.is_discarded()) all.push_back(std::move(object));
  }
  return all;
}

Json points_of(const Series& series) {
  Json points = Json::array();
  for (const auto& point : series.points)
    points.push_back({point.unix_s, point.min, point.mean, point.max});
  return points;
}

}  // namespace

Result<Json> Api::nodes(const Request& request) {
  Parameters parameters(request);
  const auto state = state_parameter(parameters);
  const auto leaf = parameters.text("leaf"), after = parameters.text("after");
  const auto limit = parameters.limit();
  if (!parameters.status()) return parameters.status().error();
  Json nodes = Json::array();
  bool passed = after.empty();
  for (const auto& node : parts_.model.nodes()) {
    if (nodes.size() == limit) break;
    const bool wanted =
        passed && (!state || node.state == *state) && (leaf.empty() || node.leaf == leaf);
    passed = passed || node.name == after;
    if (wanted) nodes.push_back(to_json(node));
  }
  if (!passed) return Error{ErrorCode::kInvalid, "after: there is no node " + after};
  return Json{{"nodes", std::move(nodes)}};
}

Result<Json> Api::node(const Request& request) {
  const std::string name = request.matches[1];
  const auto detail = parts_.model.node(name);
  if (!detail) return Error{ErrorCode::kNotFound, "there is no node " + name};
  auto all = to_json(detail->node);
  all["gpu_states"] = detail->node.gpus;
  Json gpus = Json::array();
  for (const auto& gpu : detail->gpus) gpus.push_back(to_json(gpu));
  all["gpus"] = std::move(gpus);
  IncidentQuery query;
  query.node = name;
  query.limit = kShownIncidents;
  const auto incidents = parts_.history.incidents(query);
  all["incidents"] = incidents ? parsed(*incidents) : Json::array();
  all["driver"] = detail->driver;
  all["boot"] = detail->boot;
  all["version"] = detail->version;
  all["verdict_text"] = detail->verdict_text;
  return all;
}

Result<Json> Api::node_history(const Request& request) {
  const std::string name = request.matches[1];
  Parameters parameters(request);
  SeriesQuery query;
  query.node = name;
  const auto metric = parameters.text("metric");
  query.metric = metric_named(metric);
  if (query.metric < 0)
    parameters.complain("metric", "\"" + metric + "\" is none; temperature_c is one");
  query.gpu = static_cast<int>(parameters.number("gpu", 0, kMostGpus - 1, 0));
  const auto now_s = unix_ms_now() / 1000;
  query.to_s = parameters.number("to", 0, INT32_MAX * std::int64_t{2}, now_s);
  query.from_s = parameters.number("from", 0, INT32_MAX * std::int64_t{2}, query.to_s - 3600);
  if (query.from_s > query.to_s) parameters.complain("from", "must not be after to");
  if (!parameters.status()) return parameters.status().error();
  if (!parts_.model.node(name)) return Error{ErrorCode::kNotFound, "there is no node " + name};
  const auto series = parts_.history.series(query);
  if (!series) return series.error();
  return Json{{"metric", metric},
              {"gpu", query.gpu},
              {"resolution_s", series->resolution_s},
              {"points", points_of(*series)}};
}

Result<Json> Api::gpus(const Request& request) {
  Parameters parameters(request);
  const auto state = state_parameter(parameters);
  const auto after = parameters.text("after");
  const auto limit = parameters.limit();
  if (!parameters.status()) return parameters.status().error();
  Json gpus = Json::array();
  bool passed = after.empty();
  for (const auto& detail : parts_.model.details())
    for (const auto& gpu : detail.gpus) {
      const bool wanted = passed && gpus.size() < limit && (!state || gpu.gpu.state == *state);
      passed = passed || gpu.gpu.uuid == after;
      if (wanted) gpus.push_back(gpu_of(detail, gpu));
    }
  if (!passed) return Error{ErrorCode::kInvalid, "after: there is no GPU " + after};
  return Json{{"gpus", std::move(gpus)}};
}

Result<Json> Api::gpu(const Request& request) {
  const std::string uuid = request.matches[1];
  for (const auto& detail : parts_.model.details())
    for (const auto& gpu : detail.gpus)
      if (gpu.gpu.uuid == uuid) return gpu_of(detail, gpu);
  return Error{ErrorCode::kNotFound, "there is no GPU " + uuid};
}

}  // namespace acrf::hub
