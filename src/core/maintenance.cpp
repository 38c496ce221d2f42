// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/maintenance.h"

#include <algorithm>

#include "core/hostlist.h"
#include "core/text.h"
#include "core/zoned_time.h"

namespace acrf {
namespace {

using Problem = std::optional<std::string>;

constexpr MaintenanceKey kKeys[] = {
    {"Maintenance", "The nodes, such as gpu[1-4,7]."},
    {"Start", "When it begins, such as 2026-11-17T20:00Z. Without it, it has begun."},
    {"End", "When it ends. Without it, it goes on until the line is gone."},
    {"Checks", "Classes of faults, with commas between, that are left alone. Without it, all."},
    {"Reason", "Why, for people, in double quotes."},
};

Problem set_nodes(Maintenance& maintenance, std::string_view value) {
  auto nodes = expand_hostlist(value);
  if (!nodes) return nodes.error().sentence;
  if (nodes->empty()) return "must name nodes";
  maintenance.nodes = std::move(*nodes);
  return std::nullopt;
}

Problem set_time(std::int64_t& when, std::string_view value) {
  const auto parsed = parse_zoned_time(value);
  if (!parsed) return "must be " + std::string(kZonedTimeForm);
  when = *parsed;
  return std::nullopt;
}

Problem set_classes(Maintenance& maintenance, std::string_view value) {
  for (const auto piece : split(value, ',')) {
    if (trim(piece).empty()) return "must be classes of faults, separated by commas";
    maintenance.fault_classes.emplace_back(trim(piece));
  }
  return std::nullopt;
}

Problem set_field(Maintenance& maintenance, std::string_view name, std::string_view value) {
  if (equals_ignoring_case(name, "Maintenance")) return set_nodes(maintenance, value);
  if (equals_ignoring_case(name, "Start")) return set_time(maintenance.start_unix_s, value);
  if (equals_ignoring_case(name, "End")) return set_time(maintenance.end_unix_s, value);
  if (equals_ignoring_case(name, "Checks")) return set_classes(maintenance, value);
  if (equals_ignoring_case(name, "Reason")) {
    maintenance.reason = std::string(value);
    return std::nullopt;
  }
  return "a Maintenance has no such field";
}

}  // namespace

std::span<const MaintenanceKey> maintenance_keys() { return kKeys; }

Result<Maintenance> parse_maintenance(const ConfLine& line, std::string_view origin) {
  Maintenance maintenance;
  maintenance.line = line.number;
  for (const auto& [name, value] : line.fields)
    if (const auto problem = set_field(maintenance, name, value))
      return conf_error(origin, line.number, name + "=" + value + ": " + *problem);
  if (maintenance.nodes.empty())
    return conf_error(origin, line.number, "a Maintenance needs nodes");
  if (maintenance.end_unix_s != 0 && maintenance.end_unix_s <= maintenance.start_unix_s)
    return conf_error(origin, line.number, "End must be after Start");
  return maintenance;
}

std::string to_line(const Maintenance& maintenance) {
  std::string line = "Maintenance=" + compress_hostlist(maintenance.nodes);
  if (maintenance.start_unix_s) line += " Start=" + to_utc_text(maintenance.start_unix_s);
  if (maintenance.end_unix_s) line += " End=" + to_utc_text(maintenance.end_unix_s);
  std::string classes;
  for (const auto& name : maintenance.fault_classes) classes += (classes.empty() ? "" : ",") + name;
  if (!classes.empty()) line += " Checks=" + classes;
  if (!maintenance.reason.empty()) line += " Reason=\"" + maintenance.reason + "\"";
  return line;
}

bool is_active(const Maintenance& maintenance, std::int64_t now_unix_s) {
  return now_unix_s >= maintenance.start_unix_s &&
         (maintenance.end_unix_s == 0 || now_unix_s < maintenance.end_unix_s);
}

const Maintenance* maintenance_of(const std::vector<Maintenance>& all, std::string_view node,
                                  std::string_view fault_class, std::int64_t now_unix_s) {
  const auto names = [](const std::vector<std::string>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const auto& one : all)
    if (is_active(one, now_unix_s) && names(one.nodes, node) &&
        (one.fault_classes.empty() || names(one.fault_classes, fault_class)))
      return &one;
  return nullptr;
}

}  // namespace acrf
