// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/fault.h"

#include "core/text.h"

namespace acrf {
namespace {

template <typename Kind>
std::optional<Kind> find_named(std::string_view name, Kind last) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (equals_ignoring_case(name, name_of(static_cast<Kind>(i)))) return static_cast<Kind>(i);
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::kInfo: return "info";
    case Severity::kWarning: return "warning";
    case Severity::kCritical: return "critical";
    case Severity::kFatal: return "fatal";
  }
  return "info";
}

std::string_view name_of(Scope scope) {
  switch (scope) {
    case Scope::kProcess: return "process";
    case Scope::kGpu: return "gpu";
    case Scope::kNode: return "node";
    case Scope::kFabric: return "fabric";
  }
  return "process";
}

std::string_view name_of(Action action) {
  switch (action) {
    case Action::kIgnore: return "ignore";
    case Action::kWatch: return "watch";
    case Action::kRestartApp: return "restart_app";
    case Action::kResetGpu: return "reset_gpu";
    case Action::kRebootNode: return "reboot_node";
    case Action::kDrain: return "drain";
    case Action::kRma: return "rma";
    case Action::kCheckFabric: return "check_fabric";
  }
  return "watch";
}

std::optional<Severity> parse_severity(std::string_view name) {
  return find_named(name, Severity::kFatal);
}

std::optional<Scope> parse_scope(std::string_view name) { return find_named(name, Scope::kFabric); }

std::optional<Action> parse_action(std::string_view name) {
  return find_named(name, Action::kCheckFabric);
}

Verdict classify_lost_gpu() {
  return {"gpu_lost", Severity::kFatal, Scope::kGpu, Action::kRebootNode};
}

std::string place_of(const Event& event) {
  return event.part.empty() ? to_string(event.gpu) : event.part;
}

std::string label_of(const Event& event) {
  if (event.xid) return "xid " + std::to_string(*event.xid);
  if (event.sxid) return "sxid " + std::to_string(*event.sxid);
  return event.verdict.fault_class;
}

bool evacuates_node(Action action) {
  return action == Action::kResetGpu || action == Action::kRebootNode || action == Action::kDrain ||
         action == Action::kRma;
}

bool evacuates(const Verdict& verdict) {
  return verdict.severity >= Severity::kCritical && evacuates_node(verdict.action);
}

}  // namespace acrf
