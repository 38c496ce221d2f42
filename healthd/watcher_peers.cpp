// SPDX-License-Identifier: GPL-2.0-or-later
// What the watching half makes of silence: of its own slurmd, and of its neighbours.
#include <spdlog/spdlog.h>

#include <ctime>

#include "watcher.h"

namespace acrf {
namespace {

constexpr std::chrono::seconds kOwnLookEvery{15};

}  // namespace

bool Watcher::is_still_silent(const Incident& incident) const {
  return incident.node == node_ ? slurmd_.is_hung() : neighbours_.is_dead(incident.node);
}

void Watcher::ask_slurmd(Clock::time_point now) {
  const auto news = slurmd_.step(now, neighbours_.self());
  const auto unix_s = static_cast<std::int64_t>(std::time(nullptr));
  if (!news) return;
  if (*news == SlurmdWatch::News::kAnswers) return signs_.note_slurmd_answer(unix_s);
  Event event;
  event.verdict = classify_hung_slurmd();
  event.part = "node";
  event.source = "slurmd";
  event.evidence = "slurmd takes connections and serves none";
  event.unix_s = unix_s;
  event.discriminator = std::to_string(unix_s);
  observe_finding(std::move(event));
}

void Watcher::take_peer_news(Clock::time_point now) {
  neighbours_.note_turn();
  for (const auto& news : neighbours_.take_news()) follow_peer(news);
  if (!own_look_wanted_ || now < next_own_look_) return;
  own_look_wanted_ = false;
  next_own_look_ = now + kOwnLookEvery;
  responder_->look_at_own_node();
}

void Watcher::follow_peer(const PeerNews& news) {
  switch (news.kind) {
    case PeerNews::Kind::kGreeted: own_look_wanted_ = true; return;
    case PeerNews::Kind::kDead: return open_peer_incident(news);
    case PeerNews::Kind::kHeard: spdlog::warn("neighbour {}: {}", news.node, news.evidence); break;
    case PeerNews::Kind::kHealthdSilent:
      spdlog::error("neighbour {}: {}; its health is unknown", news.node, news.evidence);
      silent_peers_[news.node] = fmt::format("{}-healthd-{}", news.node, std::time(nullptr));
      break;
  }
  tell_of_peer(news);
}

// One sign is none: people hear of it, and nothing is done.
void Watcher::tell_of_peer(const PeerNews& news) {
  const auto known = silent_peers_.find(news.node);
  if (known == silent_peers_.end()) return;
  Notice notice;
  notice.node = news.node;
  notice.incident = known->second;
  notice.resolved = news.kind == PeerNews::Kind::kHeard;
  notice.state = notice.resolved ? "heard" : "silent";
  notice.fault_class = "healthd_silent";
  notice.severity = Severity::kWarning;
  notice.action = "watch";
  notice.where = "node";
  notice.result = news.evidence;
  notice.unix_ms = static_cast<std::int64_t>(std::time(nullptr)) * 1000;
  AuditEntry entry;
  entry.node = entry.subject = news.node;
  entry.incident = known->second;
  entry.kind = AuditKind::kDecision;
  entry.what = "watch";
  entry.decided_by = notice.fault_class;
  entry.mode = config_.mode;
  entry.evidence = news.evidence;
  audit_.record(std::move(entry), AuditResult::done());
  if (notice.resolved) silent_peers_.erase(known);
  send(std::move(notice));
}

// Of another node: its own daemon is silent, so this one acts for it.
void Watcher::open_peer_incident(const PeerNews& news) {
  Event event;
  event.verdict = classify_lost_node();
  event.part = "node";
  event.source = "neighbours";
  event.evidence = news.evidence + ", seen by " + node_;
  event.boot_id = boot_id_;
  event.unix_s = std::time(nullptr);
  event.discriminator = node_ + "/" + std::to_string(event.unix_s);
  if (const auto* rule = catalog_.find_rule({}, {}, event.verdict.fault_class))
    event.shadowed = apply_rule(*rule, event.verdict);
  if (event.verdict.action == Action::kIgnore) return;
  open_incident(incident_of(news.node, event));
}

}  // namespace acrf
