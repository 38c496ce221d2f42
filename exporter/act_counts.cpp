// SPDX-License-Identifier: GPL-2.0-or-later
#include "act_counts.h"

#include "common/audit_file.h"

namespace acrf {
namespace {

constexpr std::size_t kAtOnce = 1000;
constexpr std::size_t kMostIncidents = 1000;
constexpr double kBounds_s[] = {0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000};

bool is_pending(const AuditRecord& record) {
  return record.result.state == AuditResult::State::kPending;
}

}  // namespace

void ActCounts::read_on(std::int64_t since_ms) {
  if (since_ms != since_ms_) {
    since_ms_ = since_ms;
    last_id_ = 0;
    pending_.clear();
    first_ms_.clear();
    tally_ = {};
    recoveries_ = {};
    for (const double bound : kBounds_s) recoveries_.buckets.emplace_back(bound, 0);
  }
  look_at_pending();
  AuditQuery query;
  query.since_unix_ms = since_ms_;
  query.newest = kAtOnce;
  query.oldest_first = true;
  for (;;) {
    query.after_id = last_id_;
    const auto records = find_audit_records(path_, query);
    if (!records || records->empty()) return;
    for (const auto& record : *records) {
      last_id_ = record.id;
      if (first_ms_.size() < kMostIncidents)
        first_ms_.try_emplace(record.entry.incident, record.entry.unix_ms);
      if (is_pending(record))
        pending_.insert(record.id);
      else
        take(record);
    }
  }
}

void ActCounts::look_at_pending() {
  for (auto id = pending_.begin(); id != pending_.end();) {
    const auto again = find_audit_records(path_, {.id = *id});
    const bool waits = !again || (!again->empty() && is_pending(again->front()));
    if (!waits && !again->empty()) take(again->front());
    id = waits ? std::next(id) : pending_.erase(id);
  }
}

void ActCounts::take(const AuditRecord& record) {
  const auto& entry = record.entry;
  tally_.take(entry.kind, entry.what, record.result.state, entry.decided_by);
  const auto first = first_ms_.find(entry.incident);
  if (record.result.state != AuditResult::State::kDone || entry.kind != AuditKind::kAct ||
      entry.what != "requeue" || first == first_ms_.end())
    return;
  const double seconds = static_cast<double>(record.finished_unix_ms - first->second) / 1000;
  ++recoveries_.count;
  recoveries_.sum += seconds;
  for (auto& [bound, count] : recoveries_.buckets) count += seconds <= bound;
}

void ActCounts::add_to(MetricText& text) const {
  tally_.add_to(text, "acrf_healthd_actions_total", "acrf_healthd_drains_total");
  text.histogram("acrf_healthd_requeue_seconds", "From a fault to the requeue of a job it hit",
                 recoveries_);
}

}  // namespace acrf
