// SPDX-License-Identifier: GPL-2.0-or-later
// acrf events: incidents and their life, from the incident records and the audit log of this node.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "audit_source.h"
#include "commands.h"
#include "common/audit_log.h"
#include "common/file.h"
#include "common/incident_store.h"
#include "core/node_verdict.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t kLongestShown = 300;
constexpr useconds_t kPauseUs = 500'000;

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

void show_events(CommandLine& line, const AuditSource& source, bool follow) {
  const auto state_dir = find_state_dir(line, source);
  if (!state_dir) return fail(line, state_dir.error());
  Shown shown;
  do {
    std::vector<Happening> all;
    const auto audit = add_records(audit_path(*state_dir), shown, all);
    // Nothing recorded yet, or a file that is being replaced: that passes.
    const bool missing = !audit && audit.error().code == ErrorCode::kNotFound;
    if (!audit && !missing && (!follow || audit.error().code == ErrorCode::kDenied))
      return fail(line, audit.error());
    add_incidents(*state_dir + "/incidents", shown, all);
    if (missing && !follow && all.empty()) return fail(line, audit.error());
    print(line, std::move(all));
  } while (follow && std::ferror(stdout) == 0 && ::usleep(kPauseUs) == 0);
}

}  // namespace

void add_events_command(CommandLine& line) {
  auto* command = line.app.add_subcommand("events", "incidents of this node and their life");
  const auto source = std::make_shared<AuditSource>();
  const auto follow = std::make_shared<bool>(false);
  add_audit_source(command, *source);
  command->add_option("--node", source->node, "the node whose StateDir is read (%n)");
  command->add_flag("-f,--follow", *follow, "go on and print what happens");
  command->callback([&line, source, follow] { show_events(line, *source, *follow); });
}

}  // namespace acrf
