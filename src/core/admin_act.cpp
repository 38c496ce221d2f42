// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/admin_act.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/incident.h"
#include "core/node_verdict.h"
#include "core/text.h"
#include "core/undo.h"

namespace acrf {
namespace {

using Kind = AdminAct::Kind;

constexpr std::array<std::pair<Kind, std::string_view>, 4> kKinds{{
    {Kind::kDrain, "drain"},
    {Kind::kReturn, "return"},
    {Kind::kQuarantine, "quarantine"},
    {Kind::kClear, "clear"},
}};

constexpr std::string_view kAdminPrefix = "acrf drain: ";
constexpr std::size_t kLongestReason = 200;

std::string gpu_name(const AdminAct& act) {
  return "GPU " + std::to_string(act.gpu.value_or(0)) + " of node " + act.node;
}

bool is_hidden(const AdminAct& act, const NodeHealth& health) {
  return (health.quarantined & GpuMask{1} << act.gpu.value_or(0)) != 0;
}

std::string objection_to_return(const AdminAct& act, const NodeView& node) {
  if (!node.draining) return "node " + act.node + " is not drained";
  if (is_acrf_reason(node.reason) || is_admin_reason(node.reason)) return "";
  return "node " + act.node + " is drained by somebody else: " + node.reason;
}

std::string objection_to_quarantine(const AdminAct& act, const AdminView& view) {
  if (*act.gpu >= view.gpus)
    return "node " + act.node + " has " + std::to_string(view.gpus) +
           " GPUs, none has the number " + std::to_string(*act.gpu);
  if (!view.hides_gpus) return "select/acrf is not loaded: nothing would keep jobs from the GPU";
  return is_hidden(act, view.node.token.health) ? gpu_name(act) + " is in quarantine already" : "";
}

std::string objection_to_clear(const AdminAct& act, const NodeHealth& health) {
  if (act.gpu) return is_hidden(act, health) ? "" : gpu_name(act) + " is not in quarantine";
  if (health.quarantined != 0 || health.suspect || health.probation) return "";
  return "node " + act.node + " has no GPU in quarantine and is neither suspect nor on probation";
}

}  // namespace

std::string_view name_of(Kind kind) {
  const auto found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](auto& named) { return named.first == kind; });
  return found == kKinds.end() ? "" : found->second;
}

std::optional<Kind> parse_admin_act(std::string_view name) {
  for (const auto& [kind, known] : kKinds)
    if (known == name) return kind;
  return std::nullopt;
}

std::string fault_in(const AdminAct& act) {
  const std::string name(name_of(act.kind));
  if (act.node.empty()) return name + " needs a node";
  if (act.kind == Kind::kQuarantine && !act.gpu) return name + " needs a GPU's number";
  if ((act.kind == Kind::kDrain || act.kind == Kind::kReturn) && act.gpu)
    return name + " is of a node; for a GPU there are quarantine and clear";
  if (act.gpu && (*act.gpu < 0 || *act.gpu > 63)) return "a GPU's number is from 0 to 63";
  return "";
}

std::string objection_to(const AdminAct& act, const AdminView& view) {
  switch (act.kind) {
    case Kind::kDrain:
      return view.node.draining ? "node " + act.node + " is drained already: " + view.node.reason
                                : "";
    case Kind::kReturn: return objection_to_return(act, view.node);
    case Kind::kQuarantine: return objection_to_quarantine(act, view);
    case Kind::kClear: return objection_to_clear(act, view.node.token.health);
  }
  return "";
}

std::string admin_reason(const AdminAct& act) {
  const auto text = act.reason.empty() ? std::string("no reason given") : act.reason;
  return std::string(kAdminPrefix) + printable_line(text, kLongestReason) + " (" +
         printable_line(act.by, kLongestReason) + ")";
}

bool is_admin_reason(std::string_view reason) { return starts_with(reason, kAdminPrefix); }

void change_token(const AdminAct& act, NodeToken& token) {
  auto& health = token.health;
  const GpuMask bit = GpuMask{1} << act.gpu.value_or(0);
  switch (act.kind) {
    case Kind::kDrain: return;
    case Kind::kReturn: health.suspect = false; return;
    case Kind::kQuarantine: health.quarantined |= bit; return;
    case Kind::kClear:
      if (act.gpu) {
        health.quarantined &= ~bit;
        return;
      }
      health.quarantined = 0;
      health.suspect = health.probation = false;
  }
}

std::string undo_text(const AdminAct& act) {
  if (act.kind == Kind::kDrain) return to_text(Undo{Undo::Kind::kResume, act.node, 0, {}, {}});
  if (act.kind == Kind::kQuarantine)
    return to_text(Undo{Undo::Kind::kUnquarantine, act.node, *act.gpu, {}, {}});
  return "";
}

}  // namespace acrf
