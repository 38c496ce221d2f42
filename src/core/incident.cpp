// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/incident.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::int64_t kStickySeconds = 3 * 3600;
constexpr std::int64_t kEchoSeconds = 60;
constexpr std::string_view kReasonPrefix = "ACRF: ";

std::string incident_id(const std::string& node, const Event& event) {
  const std::string observed = node + '\n' + event.boot_id + '\n' + event.source + '\n' +
                               event.discriminator + '\n' + place_of(event);
  return node + "-" + fingerprint(observed).substr(0, 10);
}

}  // namespace

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::kSeen: return "seen";
    case Phase::kDrained: return "drained";
    case Phase::kDone: return "done";
  }
  return "seen";
}

std::optional<Phase> parse_phase(std::string_view name) {
  for (const Phase phase : {Phase::kSeen, Phase::kDrained, Phase::kDone})
    if (name == name_of(phase)) return phase;
  return std::nullopt;
}

std::string drain_reason(const Incident& incident) {
  const auto& verdict = incident.root.verdict;
  return std::string(kReasonPrefix) + verdict.fault_class + " " + place_of(incident.root) + " " +
         std::string(name_of(verdict.action)) + " [" + incident.id + "]";
}

bool is_acrf_reason(std::string_view reason) { return starts_with(reason, kReasonPrefix); }

bool reason_names(std::string_view reason, const Incident& incident) {
  return is_acrf_reason(reason) && reason.find("[" + incident.id + "]") != std::string_view::npos;
}

IncidentTracker::Key IncidentTracker::key_of(const Event& event) {
  return {event.verdict.fault_class + "@" + event.boot_id + "@" + event.where, event.gpu};
}

std::optional<Incident> IncidentTracker::observe(const Event& event) {
  const auto [known, is_new] = known_.try_emplace(key_of(event), Known{event.unix_s, 0});
  if (!is_new) {
    Known& before = known->second;
    const bool same_burst = event.unix_s - before.last_event_s <= kStickySeconds;
    const bool reopens = before.reopens_s != 0 && event.unix_s > before.reopens_s;
    before.last_event_s = std::max(before.last_event_s, event.unix_s);
    if (same_burst && !reopens) return std::nullopt;
    before.reopens_s = 0;
  }
  Incident incident;
  incident.id = incident_id(node_, event);
  incident.node = node_;
  incident.root = event;
  return incident;
}

void IncidentTracker::update(const Incident& incident) {
  Known& known = known_[key_of(incident.root)];
  known.last_event_s = std::max(known.last_event_s, incident.root.unix_s);
  if (incident.closed_unix_s == 0) return;
  const auto echo_s = incident.taken_over ? 0 : kEchoSeconds;
  known.reopens_s = std::max(known.reopens_s, incident.closed_unix_s + echo_s);
}

}  // namespace acrf
