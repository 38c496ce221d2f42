// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/audit_entry.h"

#include "core/node_verdict.h"

namespace acrf {
namespace {

constexpr std::size_t kLongestLine = 1000;

void cut(std::string& text, std::size_t limit) {
  if (text.size() <= limit) return;
  text.resize(limit - 3);
  // Not inside a UTF-8 sequence: what is left must be the start of what was there.
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
  if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xc0) text.pop_back();
  text += "...";
}

}  // namespace

std::string_view name_of(AuditKind kind) {
  switch (kind) {
    case AuditKind::kDecision: return "decision";
    case AuditKind::kAct: return "act";
    case AuditKind::kReturn: return "return";
    case AuditKind::kProgram: return "program";
    case AuditKind::kNotify: return "notify";
    case AuditKind::kAdmin: return "admin";
  }
  return "decision";
}

std::optional<AuditKind> parse_audit_kind(std::string_view name) {
  for (const auto kind : {AuditKind::kDecision, AuditKind::kAct, AuditKind::kReturn,
                          AuditKind::kProgram, AuditKind::kNotify, AuditKind::kAdmin})
    if (name_of(kind) == name) return kind;
  return std::nullopt;
}

std::string_view name_of(AuditResult::State state) {
  using State = AuditResult::State;
  switch (state) {
    case State::kPending: return "pending";
    case State::kDone: return "done";
    case State::kFailed: return "failed";
    case State::kSkipped: return "skipped";
    case State::kUnknown: return "unknown";
  }
  return "unknown";
}

std::optional<AuditResult::State> parse_audit_state(std::string_view name) {
  using State = AuditResult::State;
  for (const auto state :
       {State::kPending, State::kDone, State::kFailed, State::kSkipped, State::kUnknown})
    if (name_of(state) == name) return state;
  return std::nullopt;
}

AuditEntry bounded(AuditEntry entry) {
  for (auto* word :
       {&entry.node, &entry.incident, &entry.what, &entry.subject, &entry.decided_by, &entry.undo})
    cut(*word, kLongestAuditWord);
  cut(entry.evidence, kLongestEvidence);
  return entry;
}

AuditResult bounded(AuditResult result) {
  cut(result.sentence, kLongestEvidence);
  return result;
}

std::string to_line(const AuditEntry& entry) {
  std::string text = entry.what + " " + entry.subject;
  if (entry.node != entry.subject) text += " on " + entry.node;
  if (!entry.incident.empty()) text += ", incident " + entry.incident;
  text += ", by " + entry.decided_by + " (" + std::string(mode_name(entry.mode)) + ")";
  if (!entry.undo.empty()) text += ", undone by: " + entry.undo;
  if (!entry.evidence.empty()) text += ": " + entry.evidence;
  return printable_line(text, kLongestLine);
}

std::string to_line(const AuditResult& result) {
  std::string text(name_of(result.state));
  if (!result.sentence.empty()) text += ": " + result.sentence;
  return printable_line(text, kLongestLine);
}

}  // namespace acrf
