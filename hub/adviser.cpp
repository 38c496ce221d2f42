// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/adviser.h"

#include <spdlog/spdlog.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "core/fault.h"

namespace acrf::hub {
namespace {

constexpr std::size_t kMostFaults = 100'000;

}  // namespace

std::optional<FleetFault> fault_of(const std::string& incident_json) {
  const auto object = nlohmann::json::parse(incident_json, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  try {
    FleetFault fault;
    fault.node = object.at("node");
    fault.fault_class = object.at("class");
    fault.driver = object.value("driver", "");
    fault.unix_s = object.at("opened_ms").get<std::int64_t>() / 1000;
    const auto action = parse_action(object.at("action").get<std::string>());
    const auto severity = parse_severity(object.at("severity").get<std::string>());
    fault.acting = action && severity && evacuates_node(*action) && *severity >= Severity::kCritical;
    if (const auto job = object.find("job"); job != object.end() && job->is_number())
      fault.job = job->get<std::uint64_t>();
    return fault;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

Adviser::Adviser(Model& model, const History& history, const Config& config,
                 std::chrono::milliseconds pause)
    : model_(model), history_(history), config_(config), pause_(pause) {
  thread_ = std::thread([this] { run(); });
}

Adviser::~Adviser() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Adviser::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, pause_, [&] { return stopping_; })) {
    lock.unlock();
    look();
    lock.lock();
  }
}

void Adviser::look() {
  const auto now = std::time(nullptr);
  IncidentQuery query;
  query.since_ms = (now - kLemonWindow_s) * 1000;
  query.limit = kMostFaults;
  const auto incidents = history_.incidents(query);
  if (!incidents) return;  // the Store says what is wrong with the disk
  std::vector<FleetFault> faults;
  for (const auto& json : *incidents)
    if (auto fault = fault_of(json)) faults.push_back(std::move(*fault));
  const auto advice = advise_cluster(faults, model_.members(),
                                     {config_.common_cause_nodes, config_.common_cause_time_s},
                                     now);
  std::set<std::pair<std::string, std::string>> given;
  for (const auto& one : advice) {
    const std::string kind(name_of(one.kind));
    given.insert({one.node, kind});
    nlohmann::ordered_json object = {{"kind", kind}, {"text", one.text}};
    if (one.risk > 0) object["risk"] = one.risk;
    model_.advise(one.node, kind, object.dump());
    if (!given_.contains({one.node, kind}))
      spdlog::warn("node {}: {}: {}", one.node, kind, one.text);
  }
  for (const auto& [node, kind] : given_)
    if (!given.contains({node, kind})) model_.advise(node, kind, "");
  given_ = std::move(given);
}

}  // namespace acrf::hub
