// SPDX-License-Identifier: GPL-2.0-or-later
#include "chaos_hub.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/audit_log.h"
#include "hub/history.h"

namespace acrf::minicluster {
namespace {

using Results = std::map<std::int64_t, std::string>;  // by the entries' numbers
constexpr std::size_t kAll = 1'000'000;

// StateDir is mounted inside the cluster's space only, and SQLite sees through /proc/PID/root.
std::optional<Results> audit_of(const Cluster& cluster, const std::string& node) {
  const auto copy = cluster.path("chaos/audit-" + node);
  auto words = cluster.inside({"--mount"});
  words.insert(words.end(), {"sh", "-c",
                             fmt::format("rm -rf {0} && mkdir {0} && cp {1}* {0}", copy,
                                         audit_path(cluster.path("nodes/" + node + "/acrf")))});
  if (!run_command(words, cluster.environment()).ok()) return std::nullopt;
  const auto records = find_audit_records(audit_path(copy), {.newest = kAll});
  if (!records) return std::nullopt;
  Results all;
  for (const auto& record : *records) all[record.id] = name_of(record.result.state);
  return all;
}

std::optional<Results> audit_at_hub(const Cluster& cluster, const std::string& node) {
  hub::History history(hub::history_path(cluster.path("hub-1")));
  const auto found = history.audit({.node = node, .limit = kAll});
  if (!found) return std::nullopt;
  Results all;
  for (const auto& one : *found) {
    const auto entry = nlohmann::json::parse(one.json);
    if (!all.emplace(entry.at("id"), entry.at("result")).second) return std::nullopt;  // twice
  }
  return all;
}

}  // namespace

bool has_whole_audit(const Cluster& cluster, const std::string& node) {
  const auto own = audit_of(cluster, node);
  return own && own == audit_at_hub(cluster, node);
}

}  // namespace acrf::minicluster
