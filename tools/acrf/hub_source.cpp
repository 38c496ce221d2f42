// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub_source.h"

#include <algorithm>
#include <cmath>

namespace acrf {
namespace {

using nlohmann::json;

constexpr std::size_t kPage = 1000;
constexpr std::size_t kShownOut = 5;

json part(const json& object, std::string_view key) {
  return value_of<json>(object, key, json::object());
}

PartState state_in(const json& object) {
  return parse_part_state(value_of<std::string>(object, "state")).value_or(PartState::kUnknown);
}

void take_counts(const json& counts, std::array<int, kPartStates.size()>& into) {
  for (std::size_t i = 0; i < kPartStates.size(); ++i)
    into[i] = value_of<int>(counts, kPartStates[i]);
}

// `states`: one digit a GPU.
NodeShown node_of(const json& object, const std::string& states) {
  NodeShown node;
  node.name = value_of<std::string>(object, "name");
  node.leaf = value_of<std::string>(object, "leaf");
  node.slurm_state = value_of<std::string>(object, "slurm_state");
  node.reason = value_of<std::string>(object, "reason");
  node.verdict = value_of<std::string>(object, "verdict");
  node.partitions = value_of<std::vector<std::string>>(object, "partitions");
  node.state = state_in(object);
  node.told = true;
  node.gpus = static_cast<int>(states.size());
  node.gpus_out = static_cast<int>(std::count_if(states.begin(), states.end(), [](char digit) {
    return digit >= digit_of(PartState::kQuarantined);
  }));
  node.jobs = value_of<std::vector<std::uint32_t>>(object, "jobs");
  node.risk = value_of<int>(object, "risk");
  node.last_report_ms = value_of<std::int64_t>(object, "last_report_ms");
  return node;
}

IncidentView incident_of(const json& object) {
  const auto outcome = value_of<std::string>(object, "outcome");
  return {value_of<std::string>(object, "id"),
          value_of<std::string>(object, "class"),
          value_of<std::string>(object, "severity"),
          value_of<std::string>(object, "state"),
          value_of<std::string>(object, "where"),
          outcome.empty() ? value_of<std::string>(object, "evidence") : outcome,
          value_of<std::int64_t>(object, "opened_ms")};
}

JobShown job_of(const json& object) {
  return {value_of<std::uint32_t>(object, "id"),  value_of<std::string>(object, "name"),
          value_of<std::string>(object, "user"),  value_of<std::string>(object, "partition"),
          value_of<std::string>(object, "state"), value_of<std::string>(object, "reason"),
          value_of<std::string>(object, "nodes"), value_of<int>(object, "gpus"),
          value_of<unsigned>(object, "restarts"), value_of<std::int64_t>(object, "start_ms")};
}

StatusFacts facts_of(const json& said) {
  StatusFacts facts;
  facts.told = true;
  facts.cluster = value_of<std::string>(said, "cluster");
  facts.mode = value_of<std::string>(said, "mode");
  take_counts(part(said, "nodes"), facts.nodes);
  take_counts(part(said, "gpus"), facts.gpus);
  facts.jobs = value_of<std::map<std::string, std::uint64_t>>(said, "jobs");
  const double used = value_of<double>(said, "gpu_utilization", -1);
  int gpus = 0;
  for (const int count : facts.gpus) gpus += count;
  if (used >= 0) facts.gpus_in_use = static_cast<int>(std::lround(used * gpus));
  const auto recoveries = part(said, "recoveries");
  facts.recoveries = {value_of<std::uint64_t>(recoveries, "count"),
                      value_of<double>(recoveries, "p50_s"), value_of<double>(recoveries, "p99_s")};
  if (const double ettr = value_of<double>(said, "ettr", -1); ettr >= 0) facts.ettr = ettr;
  const auto incidents = part(said, "incidents");
  facts.incidents_open = value_of<std::uint64_t>(incidents, "open");
  facts.incidents_last_hour = value_of<std::uint64_t>(incidents, "last_hour");
  for (const auto& brake : value_of<std::vector<json>>(said, "brakes_full"))
    facts.brakes_full.push_back(value_of<std::string>(brake, "sentence"));
  return facts;
}

}  // namespace

GpuView gpu_from_json(const json& object, const std::string& node) {
  GpuView gpu;
  gpu.node = node;
  gpu.index = value_of<int>(object, "index");
  gpu.state = state_in(object);
  gpu.told = true;
  gpu.uuid = value_of<std::string>(object, "uuid");
  gpu.pci = value_of<std::string>(object, "pci");
  gpu.name = value_of<std::string>(object, "name");
  gpu.vendor = value_of<std::string>(object, "vendor");
  if (const auto job = value_of<std::uint32_t>(object, "job"); job != 0) gpu.job = job;
  for (std::size_t i = 0; i < kGpuMetrics.size(); ++i) {
    constexpr auto kNone = INT64_MIN;
    const auto value = value_of<std::int64_t>(object, kGpuMetrics[i], kNone);
    if (value != kNone) gpu.values[i] = value;
  }
  return gpu;
}

Result<json> HubSource::get(const std::string& path) const { return hub_.get(path); }

Result<StatusFacts> HubSource::status() {
  const auto said = get("/v1/status");
  if (!said) return said.error();
  if (!value_of<bool>(*said, "knows_cluster"))
    return Error{ErrorCode::kUnavailable,
                 "hub " + hub_.url() + " has had no answer of slurmctld yet"};
  auto facts = facts_of(*said);
  facts.source = "hub " + hub_.url();
  for (std::size_t i = 0; i < kPartStates.size() && facts.out.size() < kShownOut; ++i) {
    if (!is_out_of_service(static_cast<PartState>(i)) || facts.nodes[i] == 0) continue;
    const auto some = get("/v1/nodes?limit=" + std::to_string(kShownOut) +
                          "&state=" + std::string(kPartStates[i]));
    if (!some) return some.error();
    for (const auto& node : value_of<std::vector<json>>(*some, "nodes"))
      facts.out.push_back(node_of(node, value_of<std::string>(node, "gpus")));
  }
  return facts;
}

Result<std::vector<NodeShown>> HubSource::nodes() {
  std::vector<NodeShown> all;
  for (std::string after;;) {
    const auto said = get("/v1/nodes?limit=" + std::to_string(kPage) + after);
    if (!said) return said.error();
    const auto page = value_of<std::vector<json>>(*said, "nodes");
    for (const auto& node : page) all.push_back(node_of(node, value_of<std::string>(node, "gpus")));
    if (page.size() < kPage) return all;
    after = "&after=" + escaped(all.back().name);
  }
}

Result<NodeDetails> HubSource::node(const std::string& name) {
  const auto said = get("/v1/nodes/" + escaped(name));
  if (!said) return said.error();
  NodeDetails details;
  details.node = node_of(*said, value_of<std::string>(*said, "gpu_states"));
  details.verdict_text = value_of<std::string>(*said, "verdict_text");
  details.driver = value_of<std::string>(*said, "driver");
  details.version = value_of<std::string>(*said, "version");
  for (const auto& gpu : value_of<std::vector<json>>(*said, "gpus"))
    details.gpus.push_back(gpu_from_json(gpu, name));
  for (const auto& incident : value_of<std::vector<json>>(*said, "incidents"))
    details.incidents.push_back(incident_of(incident));
  return details;
}

// A GPU that nobody has reported has no UUID, which is what pages go by: nodes are asked one by one
// then.
Result<std::vector<GpuView>> HubSource::gpus() {
  std::vector<GpuView> all;
  for (std::string after;;) {
    const auto said = get("/v1/gpus?limit=" + std::to_string(kPage) + after);
    if (!said) return said.error();
    const auto page = value_of<std::vector<json>>(*said, "gpus");
    for (const auto& gpu : page)
      all.push_back(gpu_from_json(gpu, value_of<std::string>(gpu, "node")));
    if (page.size() < kPage) return all;
    if (all.back().uuid.empty())
      return Error{ErrorCode::kUnavailable, "node " + all.back().node +
                                                " has not reported its GPUs to the hub yet; "
                                                "--hub none asks slurmctld"};
    after = "&after=" + escaped(all.back().uuid);
  }
}

Result<GpuView> HubSource::gpu(const std::string& uuid) {
  const auto said = get("/v1/gpus/" + escaped(uuid));
  if (!said) return said.error();
  return gpu_from_json(*said, value_of<std::string>(*said, "node"));
}

Result<std::vector<JobShown>> HubSource::jobs() {
  std::vector<JobShown> all;
  for (const char* state : {"RUNNING", "PENDING"}) {
    const auto said = get(std::string("/v1/jobs?state=") + state);
    if (!said) return said.error();
    for (const auto& job : value_of<std::vector<json>>(*said, "jobs")) all.push_back(job_of(job));
  }
  return all;
}

}  // namespace acrf
