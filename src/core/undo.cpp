// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/undo.h"

#include <vector>

#include "core/admin_act.h"
#include "core/incident.h"
#include "core/text.h"

namespace acrf {
namespace {

Error refusal(std::string sentence) { return {ErrorCode::kDenied, std::move(sentence)}; }

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (const auto word : split(text, ' '))
    if (!word.empty()) words.push_back(word);
  return words;
}

}  // namespace

std::string to_text(const Undo& undo) {
  switch (undo.kind) {
    case Undo::Kind::kResume: return "resume " + undo.node;
    case Undo::Kind::kUnquarantine:
      return "unquarantine " + undo.node + " " + std::to_string(undo.gpu) +
             (undo.gpu_uuid.empty() ? "" : " " + undo.gpu_uuid);
    case Undo::Kind::kUncap: return "uncap " + undo.node + " " + undo.gpu_uuid;
    case Undo::Kind::kRelease: return "release " + std::to_string(undo.job.value);
  }
  return "";
}

Result<Undo> parse_undo(std::string_view text) {
  const auto words = words_of(text);
  Undo undo;
  if (words.size() == 2 && words[0] == "resume") {
    undo.node = words[1];
    return undo;
  }
  if (words.size() == 3 && words[0] == "uncap") {
    undo.kind = Undo::Kind::kUncap;
    undo.node = words[1];
    undo.gpu_uuid = words[2];
    return undo;
  }
  if ((words.size() == 3 || words.size() == 4) && words[0] == "unquarantine") {
    const auto gpu = parse_unsigned(words[2]);
    if (gpu && *gpu < 64) {
      undo.kind = Undo::Kind::kUnquarantine;
      undo.node = words[1];
      undo.gpu = static_cast<int>(*gpu);
      if (words.size() == 4) undo.gpu_uuid = words[3];
      return undo;
    }
  }
  if (words.size() == 2 && words[0] == "release") {
    const auto job = parse_unsigned(words[1]);
    if (job && *job > 0 && *job <= 0xffffffff) {
      undo.kind = Undo::Kind::kRelease;
      undo.job.value = static_cast<std::uint32_t>(*job);
      return undo;
    }
  }
  return Error{ErrorCode::kInvalid, "\"" + std::string(text) + "\" is nothing that can be done"};
}

Result<Undo> undo_of(const AuditRecord& record) {
  using State = AuditResult::State;
  const std::string entry = "entry " + std::to_string(record.id);
  if (record.undone_by != 0)
    return refusal(entry + " was undone already, by entry " + std::to_string(record.undone_by));
  if (record.entry.mode == Mode::kObserve)
    return refusal(entry + " was only observed: nothing was done");
  if (record.result.state == State::kFailed || record.result.state == State::kSkipped)
    return refusal(entry + " " + std::string(name_of(record.result.state)) + ": nothing was done");
  if (record.result.state == State::kPending) return refusal(entry + " is still under way");
  if (record.entry.undo.empty())
    return refusal(entry + " (" + record.entry.what + ") cannot be undone by a command");
  return parse_undo(record.entry.undo);
}

Status may_resume(const std::string& node, const NodeView& view, const std::string& incident) {
  if (!view.draining) return refusal("node " + node + " is not drained any more");
  if (incident.empty() && is_admin_reason(view.reason)) return Done{};
  if (!is_acrf_reason(view.reason))
    return refusal("node " + node + " is drained by somebody else: " + view.reason);
  Incident named;
  named.id = incident;
  if (!reason_names(view.reason, named))
    return refusal("node " + node + " is drained for another incident: " + view.reason);
  return Done{};
}

Status take_out_of_quarantine(const Undo& undo, NodeHealth& health) {
  const GpuMask bit = GpuMask{1} << undo.gpu;
  if (!(health.quarantined & bit))
    return refusal("GPU " + std::to_string(undo.gpu) + " of node " + undo.node +
                   " is not in quarantine any more");
  health.quarantined &= ~bit;
  return Done{};
}

}  // namespace acrf
