// SPDX-License-Identifier: GPL-2.0-or-later
// One line of the audit log: what was decided or done, to what, by whom, on which evidence, how it
// ended and how it is undone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/config.h"

namespace acrf {

enum class AuditKind {
  kDecision,  // what is to be done, or not, and why
  kAct,       // something in Slurm or on the node is changed
  kReturn,    // a node or GPU goes back into service
  kProgram,   // a program of the site runs
  kNotify,    // somebody is told
  kAdmin,     // a person did it, through a command of ACRF
};

std::string_view name_of(AuditKind kind);
std::optional<AuditKind> parse_audit_kind(std::string_view name);

struct AuditResult {
  enum class State {
    kPending,  // begun; a crash leaves it so
    kDone,
    kFailed,   // `sentence` says why
    kSkipped,  // it turned out not to be needed, or was not allowed; `sentence` says why
    kUnknown,  // the process ended in between
  };
  State state = State::kPending;
  std::string sentence;

  static AuditResult done(std::string sentence = "") { return {State::kDone, std::move(sentence)}; }
  static AuditResult failed(std::string sentence) { return {State::kFailed, std::move(sentence)}; }
  static AuditResult skipped(std::string sentence) {
    return {State::kSkipped, std::move(sentence)};
  }
  static AuditResult unknown(std::string sentence) {
    return {State::kUnknown, std::move(sentence)};
  }
};

std::string_view name_of(AuditResult::State state);
std::optional<AuditResult::State> parse_audit_state(std::string_view name);

struct AuditEntry {
  std::int64_t unix_ms = 0;  // 0: now
  std::string node;
  std::string incident;  // id; empty: of none
  AuditKind kind = AuditKind::kDecision;
  std::string what;     // one word: drain, quarantine, requeue, reset, reboot, test, resume, hold
  std::string subject;  // the node, GPU (UUID or PCI address) or job it is done to
  std::string decided_by;  // "gpu_lost", "Fault=xid:63", "admin alice (1000)"
  Mode mode = Mode::kObserve;
  std::string evidence;  // log lines and counters
  std::string undo;      // see core/undo.h; empty: nothing to undo
};

// What a reader gets back.
struct AuditRecord {
  std::int64_t id = 0;
  AuditEntry entry;
  AuditResult result;
  std::int64_t finished_unix_ms = 0;  // 0: it has no result yet
  std::int64_t undone_by = 0;         // id of the entry that undid this one; 0: it stands
};

// Longer texts are cut, with "..." at their end.
inline constexpr std::size_t kLongestEvidence = 8192;
inline constexpr std::size_t kLongestAuditWord = 256;

// The entry with every text cut to its bound.
AuditEntry bounded(AuditEntry entry);
AuditResult bounded(AuditResult result);

// One printable line for a log: "drain n1 by gpu_lost (enforce): evidence".
std::string to_line(const AuditEntry& entry);
std::string to_line(const AuditResult& result);

}  // namespace acrf
