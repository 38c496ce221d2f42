// SPDX-License-Identifier: GPL-2.0-or-later
#include "cluster_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit_source.h"

namespace acrf {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kShownIncidents = 5;
constexpr std::size_t kLongestShown = 200;

std::string shown(const std::string& text, std::size_t limit = kLongestShown) {
  return text.empty() ? "-" : printable_line(text, limit);
}

std::string job_list(const std::vector<std::uint32_t>& jobs, std::size_t most) {
  if (jobs.empty()) return "-";
  std::string text;
  for (std::size_t i = 0; i < jobs.size() && i < most; ++i)
    text += (i == 0 ? "" : ",") + std::to_string(jobs[i]);
  if (jobs.size() > most) text += fmt::format(",+{}", jobs.size() - most);
  return text;
}

std::string value_text(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "-";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

ordered_json to_json(const IncidentView& incident) {
  return {{"id", incident.id},       {"class", incident.fault_class},
          {"state", incident.state}, {"severity", incident.severity},
          {"where", incident.where}, {"opened_ms", incident.opened_ms},
          {"text", incident.text}};
}

}  // namespace

std::string state_word(PartState state, bool told) {
  if (state == PartState::kUnknown && !told) return "in service";
  return std::string(name_of(state));
}

CheckStatus check_of(PartState state, bool told) {
  switch (state) {
    case PartState::kUnknown: return told ? CheckStatus::kUnknown : CheckStatus::kOk;
    case PartState::kHealthy:
    case PartState::kMaintenance: return CheckStatus::kOk;
    case PartState::kSuspect:
    case PartState::kProbation:
    case PartState::kQuarantined: return CheckStatus::kWarning;
    default: return CheckStatus::kCritical;
  }
}

std::string age_text(std::int64_t ms) {
  const auto s = ms < 0 ? 0 : ms / 1000;
  if (s < 120) return fmt::format("{} s", s);
  if (s < 7200) return fmt::format("{} min", s / 60);
  if (s < 172'800) return fmt::format("{} h", s / 3600);
  return fmt::format("{} d", s / 86'400);
}

std::string nodes_text(const std::vector<NodeShown>& nodes) {
  std::size_t name = 4, slurm = 5;
  for (const auto& node : nodes) {
    name = std::max(name, node.name.size());
    slurm = std::max(slurm, node.slurm_state.size());
  }
  auto text = fmt::format("{:<{}}  {:<11}  {:<{}}  {:>5}  {:<14}  {}\n", "NODE", name, "STATE",
                          "SLURM", slurm, "GPUS", "JOBS", "REASON");
  for (const auto& node : nodes)
    text += fmt::format("{:<{}}  {:<11}  {:<{}}  {:>5}  {:<14}  {}\n", node.name, name,
                        state_word(node.state, node.told), node.slurm_state, slurm,
                        fmt::format("{}/{}", node.gpus - node.gpus_out, node.gpus),
                        job_list(node.jobs, 2), shown(node.reason, 100));
  return text;
}

std::string gpus_text(const std::vector<GpuView>& gpus) {
  std::size_t where = 3, name = 4;
  for (const auto& gpu : gpus) {
    where = std::max(where, gpu.node.size() + 3);
    name = std::max(name, gpu.name.size());
  }
  auto text = fmt::format("{:<{}}  {:<11}  {:>8}  {:>4}  {:>5}  {:>5}  {:>5}  {:<{}}  {}\n", "GPU",
                          where, "STATE", "JOB", "C", "W", "%", "ECC", "NAME", name, "UUID");
  for (const auto& gpu : gpus)
    text +=
        fmt::format("{:<{}}  {:<11}  {:>8}  {:>4}  {:>5}  {:>5}  {:>5}  {:<{}}  {}\n",
                    fmt::format("{}:{}", gpu.node, gpu.index), where,
                    state_word(gpu.state, gpu.told), gpu.job ? std::to_string(*gpu.job) : "-",
                    value_text(gpu.values[0]), value_text(gpu.values[2]), value_text(gpu.values[3]),
                    value_text(gpu.values[5]), shown(gpu.name), name, shown(gpu.uuid));
  return text;
}

std::string gpu_text(const GpuView& gpu) {
  auto text =
      fmt::format("GPU {} of node {}: {}\n", gpu.index, gpu.node, state_word(gpu.state, gpu.told));
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<22}{}\n", name, value);
  };
  if (!gpu.name.empty()) row("name", shown(gpu.name));
  if (!gpu.uuid.empty()) row("uuid", shown(gpu.uuid));
  if (!gpu.pci.empty()) row("pci", shown(gpu.pci));
  row("job", gpu.job ? std::to_string(*gpu.job) : "none");
  for (std::size_t i = 0; i < kGpuMetrics.size(); ++i)
    if (gpu.values[i]) row(kGpuMetrics[i], std::to_string(*gpu.values[i]));
  if (!gpu.told) text += "Its readings are with its acrf-healthd and the hub, if there is one.\n";
  return text;
}

std::string details_text(const NodeDetails& details, std::int64_t now_ms) {
  const auto& node = details.node;
  auto text = fmt::format("node {}: {}\n", node.name, state_word(node.state, node.told));
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<11}{}\n", name, value);
  };
  row("slurm", shown(node.slurm_state));
  if (!node.reason.empty()) row("reason", shown(node.reason));
  row("partitions", shown(joined(node.partitions)));
  if (!node.leaf.empty()) row("switch", shown(node.leaf));
  row("jobs", job_list(node.jobs, 20));
  if (node.risk > 0) row("risk", fmt::format("{} of 100", node.risk));
  if (!node.verdict.empty())
    row("healthd", fmt::format("{}: {}", shown(node.verdict), shown(details.verdict_text)));
  if (node.last_report_ms > 0)
    row("reported", age_text(now_ms - node.last_report_ms) + " ago" +
                        (details.driver.empty() ? "" : ", driver " + shown(details.driver)));
  for (std::size_t i = 0; i < details.incidents.size() && i < kShownIncidents; ++i) {
    const auto& incident = details.incidents[i];
    row("incident", fmt::format("{} {} {} {} {}: {}", time_text(incident.opened_ms), incident.id,
                                incident.state, shown(incident.fault_class), shown(incident.where),
                                shown(incident.text)));
  }
  return details.gpus.empty() ? text : text + gpus_text(details.gpus);
}

ordered_json to_json(const NodeShown& node) {
  return {{"name", node.name},
          {"state", name_of(node.state)},
          {"told", node.told},
          {"leaf", node.leaf},
          {"partitions", node.partitions},
          {"slurm_state", node.slurm_state},
          {"reason", node.reason},
          {"verdict", node.verdict},
          {"gpu_count", node.gpus},
          {"gpus_out", node.gpus_out},
          {"jobs", node.jobs},
          {"last_report_ms", node.last_report_ms},
          {"risk", node.risk}};
}

ordered_json to_json(const GpuView& gpu) {
  ordered_json all = {{"node", gpu.node}, {"index", gpu.index},  {"state", name_of(gpu.state)},
                      {"told", gpu.told}, {"uuid", gpu.uuid},    {"pci", gpu.pci},
                      {"name", gpu.name}, {"vendor", gpu.vendor}};
  all["job"] = gpu.job ? ordered_json(*gpu.job) : ordered_json();
  for (std::size_t i = 0; i < kGpuMetrics.size(); ++i)
    all[std::string(kGpuMetrics[i])] =
        gpu.values[i] ? ordered_json(*gpu.values[i]) : ordered_json();
  return all;
}

ordered_json to_json(const NodeDetails& details) {
  auto all = to_json(details.node);
  all["verdict_text"] = details.verdict_text;
  all["driver"] = details.driver;
  all["version"] = details.version;
  all["gpus"] = ordered_json::array();
  for (const auto& gpu : details.gpus) all["gpus"].push_back(to_json(gpu));
  all["incidents"] = ordered_json::array();
  for (const auto& incident : details.incidents) all["incidents"].push_back(to_json(incident));
  return all;
}

ordered_json to_json(const JobShown& job) {
  return {{"id", job.id},
          {"name", job.name},
          {"user", job.user},
          {"state", job.state},
          {"reason", job.reason},
          {"partition", job.partition},
          {"nodes", job.nodes},
          {"gpus", job.gpus},
          {"restarts", job.restarts},
          {"start_ms", job.start_ms}};
}

}  // namespace acrf
