// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace acrf::hub {
namespace {

using nlohmann::json;

constexpr std::size_t kMostItems = 10'000;
constexpr std::size_t kLongestName = 256;
constexpr std::size_t kLongestText = 2048;

std::string text_of(const json& object, const char* key, std::size_t longest) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  const auto& text = found->get_ref<const std::string&>();
  if (text.size() > longest) throw std::runtime_error(std::string(key) + " is too long");
  return text;
}

std::int64_t number_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? 0 : found->get<std::int64_t>();
}

std::int32_t value_of(const json& value) {
  if (!value.is_number()) return kNoValue;
  const double number = value.get<double>();
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::lround(std::clamp(number, -kMost, kMost)));
}

ReportedSample sample_of(const json& item) {
  ReportedSample sample;
  const auto& gpus = item.at("gpus");
  if (!gpus.is_array() || gpus.size() > kMostGpus) throw std::runtime_error("gpus: no such list");
  for (const auto& gpu : gpus) {
    auto& values = sample.gpus.emplace_back();
    values.fill(kNoValue);
    if (!gpu.is_array() || gpu.size() > values.size())
      throw std::runtime_error("gpus: must be lists of eight numbers");
    for (std::size_t i = 0; i < gpu.size(); ++i) values[i] = value_of(gpu[i]);
  }
  return sample;
}

ReportedState state_of(const json& item) {
  ReportedState state;
  state.verdict = text_of(item, "verdict", kLongestName);
  state.verdict_text = text_of(item, "verdict_text", kLongestText);
  state.state =
      parse_part_state(text_of(item, "state", kLongestName)).value_or(PartState::kUnknown);
  for (const auto& gpu : item.value("gpus", json::array())) {
    if (state.gpus.size() >= kMostGpus) throw std::runtime_error("gpus: too many");
    ReportedGpu one;
    one.index = static_cast<int>(number_of(gpu, "index"));
    one.uuid = text_of(gpu, "uuid", kLongestName);
    one.pci = text_of(gpu, "pci", kLongestName);
    one.name = text_of(gpu, "name", kLongestName);
    one.vendor = text_of(gpu, "vendor", kLongestName);
    one.state = parse_part_state(text_of(gpu, "state", kLongestName)).value_or(PartState::kUnknown);
    state.gpus.push_back(std::move(one));
  }
  return state;
}

std::string line_of(const json& object) {
  return object.dump(-1, ' ', true, json::error_handler_t::replace);
}

ReportedIncident incident_of(const json& item, const std::string& node) {
  const auto& object = item.at("incident");
  ReportedIncident incident;
  incident.id = text_of(object, "id", kLongestName);
  if (incident.id.empty()) throw std::runtime_error("incident without an id");
  incident.node = node;
  incident.fault_class = text_of(object, "class", kLongestName);
  incident.severity = text_of(object, "severity", kLongestName);
  incident.action = text_of(object, "action", kLongestName);
  incident.driver = text_of(object, "driver", kLongestName);
  incident.opened_ms = number_of(object, "opened_ms");
  incident.updated_ms = number_of(object, "updated_ms");
  incident.closed_ms = number_of(object, "closed_ms");
  incident.json = line_of(object);
  return incident;
}

ReportedAudit audit_of(const json& item) {
  const auto& object = item.at("audit");
  ReportedAudit audit;
  audit.id = number_of(object, "id");
  audit.unix_ms = number_of(object, "time_ms");
  audit.incident = text_of(object, "incident", kLongestName);
  audit.kind = parse_audit_kind(text_of(object, "kind", kLongestName));
  audit.result = parse_audit_state(text_of(object, "result", kLongestName));
  audit.what = text_of(object, "what", kLongestText);
  audit.fault_class = text_of(object, "decided_by", kLongestText);
  audit.json = line_of(object);
  return audit;
}

ReportItem item_of(const json& object, const std::string& node) {
  ReportItem item;
  item.seq = object.at("seq").get<std::uint64_t>();
  item.ms = object.at("ms").get<std::int64_t>();
  const auto& kind = object.at("kind").get_ref<const std::string&>();
  if (kind == "sample") {
    item.what = sample_of(object);
  } else if (kind == "state") {
    item.what = state_of(object);
  } else if (kind == "incident") {
    item.what = incident_of(object, node);
  } else if (kind == "audit") {
    item.what = audit_of(object);
  } else {
    item.what = ReportedPeer{line_of(object)};  // also kinds of later versions
  }
  return item;
}

Report report_of(const json& body) {
  Report report;
  report.node = text_of(body, "node", kLongestName);
  report.boot = text_of(body, "boot", kLongestName);
  report.stream = text_of(body, "stream", kLongestName);
  report.version = text_of(body, "version", kLongestName);
  report.driver = text_of(body, "driver", kLongestName);
  report.first = body.value("first", std::uint64_t{0});
  if (report.node.empty() || report.stream.empty())
    throw std::runtime_error("node and stream must be given");
  const auto& items = body.at("items");
  if (!items.is_array() || items.size() > kMostItems)
    throw std::runtime_error("items: must be a list of at most 10000");
  for (const auto& object : items) {
    report.items.push_back(item_of(object, report.node));
    const auto count = report.items.size();
    if (report.items.back().seq == 0 ||
        (count > 1 && report.items[count - 1].seq <= report.items[count - 2].seq))
      throw std::runtime_error("seq must ascend from 1");
  }
  return report;
}

}  // namespace

int metric_named(std::string_view name) {
  const auto found = std::find(kGpuMetrics.begin(), kGpuMetrics.end(), name);
  return found == kGpuMetrics.end() ? -1 : static_cast<int>(found - kGpuMetrics.begin());
}

Result<Report> parse_report(std::string_view body) {
  try {
    return report_of(json::parse(body));
  } catch (const std::exception& problem) {
    return Error{ErrorCode::kInvalid, problem.what()};
  }
}

}  // namespace acrf::hub
