// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/report_items.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/audit_json.h"
#include "core/gpu_metrics.h"

namespace acrf {
namespace {

using nlohmann::ordered_json;

std::string line_of(const ordered_json& object) {
  return object.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

std::string_view state_of_case(CaseState state) {
  switch (state) {
    case CaseState::kProbation: return "probation";
    case CaseState::kRma:
    case CaseState::kAttended: return "attended";
    default: return "";
  }
}

}  // namespace

std::string_view state_of(const NodeNow& now, const GpuSample& sample) {
  for (const auto& [uuid, state] : now.cases)
    if (uuid == sample.uuid && !state_of_case(state).empty()) return state_of_case(state);
  const auto where = to_string(sample.address);
  const bool blamed = std::any_of(now.findings.begin(), now.findings.end(),
                                  [&](const Finding& finding) { return finding.where == where; });
  return sample.lost || sample.reset_required || blamed ? "suspect" : "healthy";
}

std::string_view state_of(const NodeNow& now) {
  for (const auto& [uuid, state] : now.cases)
    if (state_of_case(state) == "attended") return "attended";
  switch (now.verdict.status) {
    case CheckStatus::kOk: break;
    case CheckStatus::kUnknown: return "unknown";
    default: return "suspect";
  }
  return now.cases.empty() ? "healthy" : "probation";
}

std::string sample_item(const std::vector<ReportedPart>& gpus, std::int64_t unix_ms) {
  std::string text = "{\"ms\":" + std::to_string(unix_ms) + ",\"kind\":\"sample\",\"gpus\":[";
  int next = 0;
  for (const auto& [index, sample, other] : gpus) {
    for (; next < index; ++next) text += next == 0 ? "[]" : ",[]";
    text += next++ == 0 ? "[" : ",[";
    for (const auto& reading : metrics_of(*sample, other))
      text += (reading ? std::to_string(*reading) : "null") + ",";
    text.back() = ']';
  }
  return text + "]}";
}

ordered_json gpu_object(const NodeNow& now, const ReportedPart& gpu) {
  return {{"index", gpu.index},
          {"uuid", gpu.sample->uuid},
          {"pci", to_string(gpu.sample->address)},
          {"name", gpu.sample->name},
          {"vendor", gpu.sample->vendor},
          {"state", state_of(now, *gpu.sample)}};
}

std::string state_item(const NodeNow& now, std::int64_t unix_ms) {
  ordered_json gpus = ordered_json::array();
  for (const auto& gpu : now.gpus) gpus.push_back(gpu_object(now, gpu));
  return line_of({{"ms", unix_ms},
                  {"kind", "state"},
                  {"state", state_of(now)},
                  {"verdict", now.verdict.node_class},
                  {"verdict_text", now.verdict.text},
                  {"gpus", std::move(gpus)}});
}

// One that needs no handling is over when it is opened.
std::string incident_item(const Incident& incident, const std::string& driver,
                          std::int64_t updated_ms) {
  const auto& root = incident.root;
  const auto opened_ms = root.unix_s * 1000;
  const bool was_handled = incident.enforced;
  const auto closed_ms = incident.closed_unix_s != 0 ? incident.closed_unix_s * 1000
                         : was_handled || incident.phase != Phase::kDone ? 0
                                                                         : opened_ms;
  ordered_json object = {{"id", incident.id},
                         {"node", incident.node},
                         {"class", root.verdict.fault_class},
                         {"state", closed_ms != 0 ? "closed" : name_of(incident.phase)},
                         {"severity", name_of(root.verdict.severity)},
                         {"action", name_of(root.verdict.action)},
                         {"scope", name_of(root.verdict.scope)},
                         {"where", place_of(root)},
                         {"gpu_uuid", root.gpu_uuid},
                         {"opened_ms", opened_ms},
                         {"updated_ms", updated_ms},
                         {"closed_ms", closed_ms},
                         {"lines", incident.lines},
                         {"count", incident.count},
                         {"companions", incident.companions},
                         {"source", root.source},
                         {"evidence", root.evidence},
                         {"outcome", incident.outcome},
                         {"mode", incident.enforced ? "enforce" : "observe"},
                         {"driver", driver}};
  const auto maybe = [&](const char* key, const auto& value) {
    object[key] = value ? ordered_json(*value) : ordered_json();
  };
  maybe("gpu_index", incident.gpu_index);
  maybe("xid", root.xid);
  maybe("job", root.job);
  maybe("user", root.user);
  return line_of({{"ms", updated_ms}, {"kind", "incident"}, {"incident", std::move(object)}});
}

std::string audit_item(const AuditRecord& record) {
  const auto& entry = record.entry;
  const auto ms = std::max(entry.unix_ms, record.finished_unix_ms);
  return line_of({{"ms", ms}, {"kind", "audit"}, {"audit", to_json(record)}});
}

std::string with_number(std::string_view item, std::uint64_t seq) {
  return "{\"seq\":" + std::to_string(seq) + "," + std::string(item.substr(1));
}

}  // namespace acrf
