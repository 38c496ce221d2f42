// SPDX-License-Identifier: GPL-2.0-or-later
// acrf events: incidents and their life, of all nodes as a hub knows them, or from the incident
// records and the audit log of this node.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "audit_source.h"
#include "cluster_source.h"
#include "common/audit_log.h"
#include "common/file.h"
#include "common/incident_store.h"
#include "core/node_verdict.h"
#include "hub_records.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t kLongestShown = 300;
constexpr useconds_t kPauseUs = 500'000;
constexpr std::size_t kOfHub = 1000, kNewOfHub = 200;  // incidents, and entries, at a look

struct Happening {
  std::int64_t unix_ms = 0;
  std::string incident;
  std::string state;  // opened, closed, or the audit entry's kind and result
  std::string text;
  ordered_json more;
};

// What has been shown, so that following shows each change once.
struct Shown {
  std::int64_t last_id = 0;
  std::set<std::int64_t> pending;
  std::map<std::string, std::string> phases;  // incident -> "opened" or "closed"
  // Of a hub: node and number of an entry -> how it had ended.
  std::map<std::pair<std::string, std::int64_t>, AuditResult::State> entries;
};

struct EventsOptions {
  AuditSource source;
  SourceOptions hub;
  bool follow = false;
};

Happening of_incident(const Incident& incident, bool closed) {
  const auto& root = incident.root;
  Happening happening;
  happening.incident = incident.id;
  happening.state = closed ? "closed" : "opened";
  happening.unix_ms = (closed ? incident.closed_unix_s : root.unix_s) * 1000;
  happening.text = closed ? incident.outcome
                          : fmt::format("{} {} {} {}: {}", name_of(root.verdict.severity),
                                        root.verdict.fault_class, place_of(root),
                                        name_of(root.verdict.action), root.evidence);
  happening.more = {{"node", incident.node},
                    {"class", root.verdict.fault_class},
                    {"severity", name_of(root.verdict.severity)},
                    {"action", name_of(root.verdict.action)},
                    {"where", place_of(root)},
                    {"enforced", incident.enforced}};
  return happening;
}

Happening of_record(const AuditRecord& record) {
  const auto& entry = record.entry;
  const bool open = record.result.state == AuditResult::State::kPending;
  Happening happening;
  happening.incident = entry.incident;
  happening.state = open ? "begun" : name_of(record.result.state);
  happening.unix_ms = open ? entry.unix_ms : std::max(entry.unix_ms, record.finished_unix_ms);
  happening.text = fmt::format("{} {} {} by {} ({}){}{}", name_of(entry.kind), entry.what,
                               entry.subject, entry.decided_by, mode_name(entry.mode),
                               record.result.sentence.empty() ? "" : ": ", record.result.sentence);
  happening.more = to_json(record);
  return happening;
}

// Records are only read: an unreadable one is the daemon's to deal with.
void add_incidents(const std::string& directory, Shown& shown, std::vector<Happening>& all) {
  std::error_code error;
  for (const auto& file : fs::directory_iterator(directory, error)) {
    if (file.path().extension() != ".json") continue;
    const auto text = read_file(file.path());
    if (!text) continue;
    const auto incident = incident_from_json(*text);
    if (!incident) continue;
    auto& phase = shown.phases[incident->id];
    if (phase.empty()) all.push_back(of_incident(*incident, false));
    const bool closed = incident->closed_unix_s != 0;
    if (closed && phase != "closed") all.push_back(of_incident(*incident, true));
    phase = closed ? "closed" : "opened";
  }
}

Status add_records(const std::string& path, Shown& shown, std::vector<Happening>& all) {
  AuditQuery query;
  query.newest = 10'000;
  query.after_id = shown.last_id;
  const auto records = find_audit_records(path, query);
  if (!records) return records.error();
  for (const auto id : std::set<std::int64_t>(shown.pending)) {
    const auto again = find_audit_records(path, {.id = id});
    if (!again) return again.error();
    if (!again->empty() && again->front().result.state == AuditResult::State::kPending) continue;
    shown.pending.erase(id);
    if (!again->empty()) all.push_back(of_record(again->front()));
  }
  for (const auto& record : *records) {
    shown.last_id = std::max(shown.last_id, record.id);
    if (record.result.state == AuditResult::State::kPending) shown.pending.insert(record.id);
    all.push_back(of_record(record));
  }
  return Done{};
}

Happening of_hub_incident(const nlohmann::json& incident, bool closed) {
  const auto text = [&](const char* key) { return value_of<std::string>(incident, key); };
  Happening happening;
  happening.incident = text("id");
  happening.state = closed ? "closed" : "opened";
  happening.unix_ms = value_of<std::int64_t>(incident, closed ? "closed_ms" : "opened_ms");
  happening.text = closed ? text("outcome")
                          : fmt::format("{} {} {} {}: {}", text("severity"), text("class"),
                                        text("where"), text("action"), text("evidence"));
  for (const char* key : {"node", "class", "severity", "action", "where"})
    happening.more[key] = text(key);
  happening.more["enforced"] = text("mode") == "enforce";
  return happening;
}

// What the hub knows that was not shown yet.
Status add_of_hub(const HubClient& hub, const std::string& node, Shown& shown,
                  std::vector<Happening>& all) {
  const auto newest = shown.entries.empty() && shown.phases.empty() ? kOfHub : kNewOfHub;
  const auto incidents = hub_incidents(hub, node, newest);
  if (!incidents) return incidents.error();
  AuditQuery query;
  query.node = node;
  query.newest = newest;
  const auto records = hub_audit(hub, query);
  if (!records) return records.error();
  for (const auto& incident : *incidents) {
    auto& phase = shown.phases[value_of<std::string>(incident, "id")];
    if (phase.empty()) all.push_back(of_hub_incident(incident, false));
    const bool closed = value_of<std::int64_t>(incident, "closed_ms") != 0;
    if (closed && phase != "closed") all.push_back(of_hub_incident(incident, true));
    phase = closed ? "closed" : "opened";
  }
  for (const auto& record : *records) {
    const auto [known, is_new] =
        shown.entries.try_emplace({record.entry.node, record.id}, record.result.state);
    if (!is_new && known->second == record.result.state) continue;
    known->second = record.result.state;
    all.push_back(of_record(record));
  }
  return Done{};
}

void print(const CommandLine& line, std::vector<Happening> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.unix_ms < b.unix_ms; });
  for (const auto& happening : all) {
    if (!line.json) {
      fmt::print("{} {} {}: {}\n", time_text(happening.unix_ms),
                 happening.incident.empty() ? "-" : happening.incident, happening.state,
                 printable_line(happening.text, kLongestShown));
      continue;
    }
    ordered_json object = {{"event", happening.state},
                           {"event_time_ms", happening.unix_ms},
                           {"incident", happening.incident}};
    object.update(happening.more);
    fmt::print("{}\n", object.dump(-1, ' ', true, ordered_json::error_handler_t::replace));
  }
  std::fflush(stdout);
}

// A hub that falls silent may come back: followers wait for it.
void show_events_of_hub(CommandLine& line, const HubClient& hub, const EventsOptions& options) {
  Shown shown;
  do {
    std::vector<Happening> all;
    const auto added = add_of_hub(hub, options.source.node, shown, all);
    const bool silent = !added && added.error().code == ErrorCode::kUnavailable;
    if (!added && !(silent && options.follow)) return fail(line, added.error());
    if (all.empty() && !options.follow)
      return fail(line, {ErrorCode::kNotFound, "hub " + hub.url() + ": nothing has been recorded" +
                                                   (options.source.node.empty() ? "" : " of ") +
                                                   options.source.node});
    print(line, std::move(all));
  } while (options.follow && std::ferror(stdout) == 0 && ::usleep(kPauseUs) == 0);
}

void show_events(CommandLine& line, const EventsOptions& options) {
  if (options.source.state_dir.empty()) {
    const auto hub = find_hub(line, options.hub);
    if (!hub) return fail(line, hub.error());
    if (*hub) return show_events_of_hub(line, **hub, options);
  }
  const auto state_dir = find_state_dir(line, options.source);
  if (!state_dir) return fail(line, state_dir.error());
  Shown shown;
  do {
    std::vector<Happening> all;
    const auto audit = add_records(audit_path(*state_dir), shown, all);
    // Nothing recorded yet, or a file that is being replaced: that passes.
    const bool missing = !audit && audit.error().code == ErrorCode::kNotFound;
    if (!audit && !missing && (!options.follow || audit.error().code == ErrorCode::kDenied))
      return fail(line, audit.error());
    add_incidents(*state_dir + "/incidents", shown, all);
    if (missing && !options.follow && all.empty()) return fail(line, audit.error());
    print(line, std::move(all));
  } while (options.follow && std::ferror(stdout) == 0 && ::usleep(kPauseUs) == 0);
}

}  // namespace

void add_events_command(CommandLine& line) {
  auto* command = line.app.add_subcommand("events", "incidents and their life");
  const auto options = std::make_shared<EventsOptions>();
  add_audit_source(command, options->source);
  add_source_options(command, options->hub);
  command->add_option("--node", options->source.node,
                      "of this node; without a hub the one whose StateDir is read (%n)");
  command->add_flag("-f,--follow", options->follow, "go on and print what happens");
  command->callback([&line, options] { show_events(line, *options); });
}

}  // namespace acrf
