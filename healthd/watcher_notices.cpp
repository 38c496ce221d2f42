// SPDX-License-Identifier: GPL-2.0-or-later
// What the watcher tells people, and what it takes from the responder's thread.
#include <spdlog/spdlog.h>

#include <chrono>
#include <ctime>
#include <utility>

#include "common/courier_path.h"
#include "watcher.h"

namespace acrf {
namespace {

std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

// In the responder's thread, as the next one.
void Watcher::when_closed(const Incident& incident) {
  if (incident.node != node_) return;
  const std::lock_guard lock(tracker_mutex_);
  tracker_.update(incident);
  if (incident.taken_over)
    findings_.forget(incident.root.verdict.fault_class, place_of(incident.root));
}

void Watcher::tell(const Incident& incident, const std::string& state, const std::string& news) {
  const auto& root = incident.root;
  Notice notice;
  notice.node = incident.node;
  notice.incident = incident.id;
  notice.state = state;
  notice.fault_class = root.verdict.fault_class;
  notice.severity = root.verdict.severity;
  notice.action = name_of(root.verdict.action);
  notice.where = place_of(root);
  notice.result = news;
  notice.evidence = root.evidence;
  notice.opened_unix_ms = root.unix_s * 1000;
  notice.unix_ms = unix_ms();
  send(std::move(notice));
}

void Watcher::send(Notice notice) {
  const std::lock_guard lock(notifier_mutex_);
  notifier_->tell(std::move(notice));
}

// Also after a reload: what the old one has not sent waits in the spool for the new one.
void Watcher::start_notifier() {
  const std::lock_guard lock(notifier_mutex_);
  notifier_.reset();
  Notifier::Options options;
  options.rules = config_.notifies;
  options.spool = config_.state_dir + "/notify";
  options.courier = courier_path();
  options.config_path = config_path_;
  options.node = node_;
  notifier_ = std::make_unique<Notifier>(std::move(options), [](const Notifier::Outcome& outcome) {
    if (!outcome.sent)
      spdlog::warn("notice {} to {}: {}", outcome.id, outcome.receiver, outcome.sentence);
  });
}

// What was proven to be gone is no longer held against the node.
void Watcher::when_case_moves(const Case& sick, const std::string& why) {
  Notice notice;
  notice.node = node_;
  notice.incident = sick.id;
  notice.state = name_of(sick.state);
  notice.resolved = sick.state == CaseState::kProbation || is_over(sick.state);
  notice.fault_class = sick.fault_class;
  notice.severity = waits_for_people(sick.state) ? Severity::kFatal : Severity::kWarning;
  notice.action = name_of(sick.asked);
  notice.where = sick.place;
  notice.result = why;
  notice.unix_ms = unix_ms();
  send(std::move(notice));
  const std::lock_guard lock(tracker_mutex_);
  if (is_over(sick.state))
    open_cases_.erase(sick.gpu_uuid);
  else
    open_cases_[sick.gpu_uuid] = sick.state;
  if (sick.state != CaseState::kProbation && !is_over(sick.state)) return;
  findings_.forget(sick.fault_class, sick.place);
  // A reading is dated back by two samples, to the last good one.
  if (sick.state == CaseState::kProbation)
    tracker_.note_return(sick.id, std::time(nullptr) - 2 * config_.sample_interval_s - 1);
}

}  // namespace acrf
