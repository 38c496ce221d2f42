// SPDX-License-Identifier: GPL-2.0-or-later
// acrf maintenance add|list|remove: nodes that people work on, as reservations of slurmctld.
#include <fmt/format.h>

#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common/config_file.h"
#include "common/slurm_client.h"
#include "core/duration.h"
#include "core/hostlist.h"
#include "core/text.h"
#include "core/zoned_time.h"

namespace acrf {
namespace {

constexpr char kNamePrefix[] = "acrf-maint-";  // only such reservations are ours to end

struct AddOptions {
  std::string nodes, start = "now", end, duration;
};

Result<std::int64_t> point_in_time(const std::string& option, const std::string& text) {
  if (text == "now") return static_cast<std::int64_t>(std::time(nullptr));
  const auto when = parse_zoned_time(text);
  if (when) return *when;
  return Error{ErrorCode::kInvalid,
               option + " " + text + ": must be now or " + std::string(kZonedTimeForm)};
}

Result<Maintenance> wanted(const AddOptions& options) {
  Maintenance maintenance;
  auto nodes = expand_hostlist(options.nodes);
  if (!nodes) return nodes.error();
  maintenance.nodes = std::move(*nodes);
  const auto start = point_in_time("--start", options.start);
  if (!start) return start.error();
  maintenance.start_unix_s = *start;
  if (!options.end.empty()) {
    const auto end = point_in_time("--end", options.end);
    if (!end) return end.error();
    maintenance.end_unix_s = *end;
  } else {
    const auto lasts_s = parse_duration_s(options.duration);
    if (!lasts_s) return Error{ErrorCode::kInvalid, "--duration: " + lasts_s.error().sentence};
    maintenance.end_unix_s = *start + *lasts_s;
  }
  if (maintenance.end_unix_s <= maintenance.start_unix_s)
    return Error{ErrorCode::kInvalid, "maintenance must end after it starts"};
  maintenance.name = kNamePrefix + fingerprint(options.nodes + std::to_string(*start)).substr(0, 8);
  return maintenance;
}

void add(CommandLine& line, const AddOptions& options) {
  if (options.end.empty() == options.duration.empty())
    return fail(line, {ErrorCode::kInvalid, "give one of --end and --duration"});
  const auto maintenance = wanted(options);
  if (!maintenance) return fail(line, maintenance.error());
  SlurmClient slurm;
  const auto name = slurm.reserve_for_maintenance(*maintenance);
  if (!name) return fail(line, name.error());
  line.json ? fmt::print("{}\n", nlohmann::json{{"name", *name}}.dump())
            : fmt::print("{}\n", *name);
}

void remove(CommandLine& line, const std::string& name) {
  if (!starts_with(name, kNamePrefix))
    return fail(line, {ErrorCode::kInvalid, name +
                                                " was not made by acrf maintenance; use scontrol "
                                                "delete ReservationName=" +
                                                name});
  SlurmClient slurm;
  if (const auto ended = slurm.end_reservation(name); !ended) fail(line, ended.error());
}

std::string when(std::int64_t unix_s) { return unix_s ? to_utc_text(unix_s) : "-"; }

void print(const CommandLine& line, const std::vector<Maintenance>& all, std::int64_t now) {
  auto list = nlohmann::ordered_json::array();
  if (!line.json)
    fmt::print("{:<20} {:<21} {:<21} {:<7} {:<16} {}\n", "FROM", "START", "END", "ACTIVE", "NODES",
               "REASON");
  for (const auto& one : all) {
    const auto origin = one.line ? fmt::format("acrf.conf:{}", one.line) : one.name;
    const auto nodes = compress_hostlist(one.nodes);
    const bool active = is_active(one, now);
    if (line.json)
      list.push_back({{"from", origin},
                      {"start", when(one.start_unix_s)},
                      {"end", when(one.end_unix_s)},
                      {"active", active},
                      {"nodes", nodes},
                      {"classes", one.fault_classes},
                      {"reason", one.reason}});
    else
      fmt::print("{:<20} {:<21} {:<21} {:<7} {:<16} {}\n", origin, when(one.start_unix_s),
                 when(one.end_unix_s), active ? "yes" : "no", nodes, one.reason);
  }
  if (line.json) fmt::print("{}\n", list.dump(2));
}

void list(CommandLine& line) {
  const auto config = load_named_config(line.config_path);
  if (!config) return fail(line, config.error());
  SlurmClient slurm;
  const auto reserved = slurm.maintenance();
  if (!reserved) return fail(line, reserved.error());
  auto all = config->maintenance;
  all.insert(all.end(), reserved->begin(), reserved->end());
  print(line, all, std::time(nullptr));
}

}  // namespace

void add_maintenance_command(CommandLine& line) {
  auto* command = line.app.add_subcommand("maintenance", "nodes that people work on");
  command->require_subcommand(1);
  command->fallthrough();
  auto options = std::make_shared<AddOptions>();
  auto* adding = command->add_subcommand("add", "reserve nodes; ACRF leaves them alone");
  adding->fallthrough();
  adding->add_option("nodes", options->nodes, "such as gpu[1-4]")->required();
  adding->add_option("--start", options->start, "now, or a time such as 2026-11-17T20:00Z");
  adding->add_option("--end", options->end, "a time");
  adding->add_option("--duration", options->duration, "how long, as for sbatch --time");
  adding->callback([&line, options] { add(line, *options); });
  command->add_subcommand("list", "what is planned or going on")->fallthrough()->callback([&line] {
    list(line);
  });
  auto name = std::make_shared<std::string>();
  auto* removing = command->add_subcommand("remove", "end one that add has made");
  removing->fallthrough();
  removing->add_option("name", *name, "as add and list print it")->required();
  removing->callback([&line, name] { remove(line, *name); });
}

}  // namespace acrf
