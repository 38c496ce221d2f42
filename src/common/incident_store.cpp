// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/incident_store.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "core/node_verdict.h"

namespace acrf {
namespace {

using nlohmann::json;

// Enumerations are stored by name; a name this version does not know makes the record unreadable.
template <typename Enum, std::size_t N>
std::optional<Enum> enum_named(const std::string& name, const Enum (&all)[N]) {
  for (const Enum value : all)
    if (name_of(value) == name) return value;
  return std::nullopt;
}

constexpr Severity kSeverities[] = {Severity::kInfo, Severity::kWarning, Severity::kCritical,
                                    Severity::kFatal};
constexpr Scope kScopes[] = {Scope::kProcess, Scope::kGpu, Scope::kNode, Scope::kFabric};
constexpr Action kActions[] = {Action::kIgnore,   Action::kWatch,      Action::kRestartApp,
                               Action::kResetGpu, Action::kRebootNode, Action::kDrain,
                               Action::kRma,      Action::kCheckFabric};

Incident parse_incident(const json& record) {
  Incident incident;
  incident.id = record.at("id");
  incident.node = record.at("node");
  incident.enforced = record.at("enforced");
  incident.drained_unix_s = record.at("drained");
  incident.closed_unix_s = record.at("closed");
  incident.taken_over = record.at("taken_over");
  incident.outcome = record.at("outcome");
  incident.phase = parse_phase(record.at("phase").get<std::string>()).value();
  auto& root = incident.root;
  root.verdict.fault_class = record.at("class");
  root.verdict.severity = enum_named(record.at("severity"), kSeverities).value();
  root.verdict.scope = enum_named(record.at("scope"), kScopes).value();
  root.verdict.action = enum_named(record.at("action"), kActions).value();
  root.verdict.at_job_end = record.value("at_job_end", false);
  const std::string pci = record.at("gpu");
  std::string_view rest = pci;
  root.gpu = take_pci_address(rest).value();
  root.gpu_uuid = record.at("gpu_uuid");
  root.boot_id = record.at("boot_id");
  root.source = record.at("source");
  root.evidence = record.at("evidence");
  root.discriminator = record.at("discriminator");
  root.unix_s = record.at("time");
  root.part = record.value("part", "");
  root.rank = record.value("rank", root.rank);
  if (record.contains("xid")) root.xid = record.at("xid").get<int>();
  if (record.contains("job")) root.job = record.at("job").get<std::uint64_t>();
  if (record.contains("user")) root.user = record.at("user").get<std::uint64_t>();
  root.step = record.value("step", "");
  root.shared = record.value("shared", "");
  if (record.contains("gpu_index")) incident.gpu_index = record.at("gpu_index").get<int>();
  incident.node_gpus = record.value("node_gpus", 0);
  if (record.contains("quarantined_gpu"))
    incident.quarantined_gpu = record.at("quarantined_gpu").get<int>();
  for (const auto& order : record.value("last_checkpoints", json::array()))
    incident.last_checkpoints.push_back({order.at("job"), order.at("restarts"), order.at("asked"),
                                         order.at("newest"), order.at("over")});
  return incident;
}

}  // namespace

std::string to_json(const Incident& incident) {
  const auto& root = incident.root;
  json record = {{"id", incident.id},
                 {"node", incident.node},
                 {"phase", name_of(incident.phase)},
                 {"enforced", incident.enforced},
                 {"drained", incident.drained_unix_s},
                 {"closed", incident.closed_unix_s},
                 {"taken_over", incident.taken_over},
                 {"outcome", incident.outcome},
                 {"class", root.verdict.fault_class},
                 {"severity", name_of(root.verdict.severity)},
                 {"scope", name_of(root.verdict.scope)},
                 {"action", name_of(root.verdict.action)},
                 {"gpu", to_string(root.gpu)},
                 {"gpu_uuid", root.gpu_uuid},
                 {"boot_id", root.boot_id},
                 {"source", root.source},
                 {"evidence", root.evidence},
                 {"discriminator", root.discriminator},
                 {"time", root.unix_s}};
  record["at_job_end"] = root.verdict.at_job_end;
  record["rank"] = root.rank;
  if (!root.part.empty()) record["part"] = root.part;
  if (root.xid) record["xid"] = *root.xid;
  if (root.job) record["job"] = *root.job;
  if (root.user) record["user"] = *root.user;
  if (!root.step.empty()) record["step"] = root.step;
  if (!root.shared.empty()) record["shared"] = root.shared;
  record["state"] = health_state(root.verdict, root.xid);
  if (incident.gpu_index) record["gpu_index"] = *incident.gpu_index;
  record["node_gpus"] = incident.node_gpus;
  if (incident.quarantined_gpu) record["quarantined_gpu"] = *incident.quarantined_gpu;
  for (const auto& order : incident.last_checkpoints)
    record["last_checkpoints"].push_back({{"job", order.job},
                                          {"restarts", order.restarts},
                                          {"asked", order.asked_unix_s},
                                          {"newest", order.newest},
                                          {"over", order.is_over}});
  // A kernel line may hold any bytes; they must not make the record impossible to write.
  return record.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

Result<Incident> incident_from_json(const std::string& text) {
  try {
    return parse_incident(json::parse(text));
  } catch (const std::exception& problem) {
    return Error{ErrorCode::kInvalid, problem.what()};
  }
}

Result<IncidentStore> IncidentStore::open(const std::string& directory) {
  auto records = RecordDir::open(directory);
  if (!records) return records.error();
  return IncidentStore(directory, std::move(*records));
}

Status IncidentStore::save(const Incident& incident) const {
  return records_.save(incident.id, to_json(incident));
}

std::vector<Incident> IncidentStore::load_all(std::vector<std::string>& complaints) const {
  std::vector<Incident> incidents;
  records_.for_each(
      [&](const std::string& text) -> Status {
        auto incident = incident_from_json(text);
        if (!incident) return incident.error();
        incidents.push_back(std::move(*incident));
        return Done{};
      },
      complaints);
  return incidents;
}

std::string IncidentStore::withdrawal_path(const std::string& id) const {
  return directory_ + "/" + id + ".withdrawn";
}

Status IncidentStore::withdraw(const std::string& id) const {
  return write_file(withdrawal_path(id), "");
}

bool IncidentStore::is_withdrawn(const std::string& id) const {
  return ::access(withdrawal_path(id).c_str(), F_OK) == 0;
}

void IncidentStore::prune(std::size_t keep) const {
  std::vector<std::string> ignored;
  auto incidents = load_all(ignored);
  std::erase_if(incidents, [](const Incident& incident) { return incident.phase != Phase::kDone; });
  if (incidents.size() <= keep) return;
  std::sort(incidents.begin(), incidents.end(),
            [](const Incident& a, const Incident& b) { return a.root.unix_s > b.root.unix_s; });
  for (std::size_t i = keep; i < incidents.size(); ++i) {
    records_.remove(incidents[i].id);
    ::unlink(withdrawal_path(incidents[i].id).c_str());
  }
}

}  // namespace acrf
