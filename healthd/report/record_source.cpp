// SPDX-License-Identifier: GPL-2.0-or-later
// Records are named "a:ID:p" for an audit entry that has no result yet, "a:ID" for one that has, and
// "i:MS:ID" for an incident as it was written at that time.
#include "report/record_source.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/audit_log.h"
#include "common/file.h"
#include "common/incident_store.h"
#include "core/text.h"
#include "report/report_items.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostAtOnce = 200;

std::int64_t written_ms(const fs::path& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return 0;
  return status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1'000'000;
}

bool is_pending(const AuditRecord& record) {
  return record.result.state == AuditResult::State::kPending;
}

}  // namespace

RecordSource::RecordSource(std::string state_dir, std::string cursor_path)
    : state_dir_(std::move(state_dir)), cursor_path_(std::move(cursor_path)) {
  load();
  queued_audit_ = audit_;
  queued_pending_ = pending_;
  queued_incidents_ = incidents_;
}

// Without a cursor, all is sent again: the hub knows what it has.
void RecordSource::load() {
  const auto text = read_file(cursor_path_);
  if (!text) return;
  const auto cursor = nlohmann::json::parse(*text, nullptr, false);
  if (!cursor.is_object()) return;
  try {
    audit_ = cursor.at("audit");
    pending_ = cursor.at("pending").get<std::set<std::int64_t>>();
    incidents_ = cursor.at("incidents").get<std::map<std::string, std::int64_t>>();
  } catch (const std::exception& problem) {
    spdlog::warn("{}: {}; the hub is told everything again", cursor_path_, problem.what());
    audit_ = 0;
    pending_.clear();
    incidents_.clear();
  }
}

void RecordSource::look(Outbox& outbox, const std::string& driver) {
  look_at_incidents(outbox, driver);
  look_at_audit(outbox);
}

void RecordSource::look_at_incidents(Outbox& outbox, const std::string& driver) {
  std::error_code error;
  std::set<std::string> here;
  for (const auto& file : fs::directory_iterator(state_dir_ + "/incidents", error)) {
    if (file.path().extension() != ".json") continue;
    const auto id = file.path().stem().string();
    here.insert(id);
    const auto at_ms = written_ms(file.path());
    if (const auto known = queued_incidents_.find(id);
        known != queued_incidents_.end() && known->second == at_ms)
      continue;
    const auto text = read_file(file.path());
    const auto incident = text ? incident_from_json(*text) : Result<Incident>(text.error());
    if (!incident) continue;  // the daemon sets it aside
    outbox.add({false, incident_item(*incident, driver, at_ms),
                "i:" + std::to_string(at_ms) + ":" + id, 0});
    queued_incidents_[id] = at_ms;
  }
  if (error) return;
  // Those that were pruned here are the hub's alone now.
  const auto is_gone = [&](const auto& known) { return !here.contains(known.first); };
  std::erase_if(queued_incidents_, is_gone);
  is_new_ |= std::erase_if(incidents_, is_gone) > 0;
}

void RecordSource::begin_audit_anew() {
  spdlog::warn("{}: has begun anew; the hub is told all of it", audit_path(state_dir_));
  audit_ = queued_audit_ = 0;
  pending_.clear();
  queued_pending_.clear();
  is_new_ = true;
}

void RecordSource::look_at_audit(Outbox& outbox) {
  const auto path = audit_path(state_dir_);
  const auto newest = find_audit_records(path, {.newest = 1});
  if (!newest) return;
  const auto last = newest->empty() ? 0 : newest->back().id;
  if (last < queued_audit_) begin_audit_anew();
  const auto put = [&](const AuditRecord& record) {
    outbox.add({false, audit_item(record),
                "a:" + std::to_string(record.id) + (is_pending(record) ? ":p" : ""), 0});
  };
  for (const auto id : std::set<std::int64_t>(queued_pending_)) {
    const auto again = find_audit_records(path, {.id = id});
    if (!again || (!again->empty() && is_pending(again->front()))) continue;
    queued_pending_.erase(id);
    if (!again->empty()) put(again->front());
  }
  while (queued_audit_ < last && outbox.waiting() < kMostAtOnce) {
    AuditQuery query;
    query.after_id = queued_audit_;
    query.oldest_first = true;
    query.newest = kMostAtOnce;
    const auto records = find_audit_records(path, query);
    if (!records || records->empty()) return;
    for (const auto& record : *records) {
      put(record);
      queued_audit_ = record.id;
      if (is_pending(record)) queued_pending_.insert(record.id);
    }
  }
}

void RecordSource::confirm(const std::string& record) {
  const auto words = split(record, ':');
  if (words.size() < 2) return;
  const auto number = static_cast<std::int64_t>(parse_unsigned(words[1]).value_or(0));
  // Of an audit log that is gone: its numbers mean other entries now.
  if (words[0] == "a" && number > queued_audit_) return;
  is_new_ = true;
  if (words[0] == "i" && words.size() == 3) {
    incidents_[std::string(words[2])] = number;
  } else if (words[0] == "a") {
    audit_ = std::max(audit_, number);
    if (words.size() == 3)
      pending_.insert(number);
    else
      pending_.erase(number);
  }
}

void RecordSource::save() {
  if (!is_new_) return;
  is_new_ = false;
  const nlohmann::json cursor = {
      {"audit", audit_}, {"pending", pending_}, {"incidents", incidents_}};
  std::error_code error;
  fs::create_directories(fs::path(cursor_path_).parent_path(), error);
  if (const auto saved = replace_file(cursor_path_, cursor.dump()); !saved)
    spdlog::warn("{}: {}", cursor_path_, saved.error().sentence);
}

}  // namespace acrf
