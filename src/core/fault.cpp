// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/fault.h"

namespace acrf {

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

Verdict classify_lost_gpu() {
  return {"gpu_lost", Severity::kFatal, Scope::kGpu, Action::kRebootNode};
}

Verdict classify_xid(int code) {
  if (code == 79) return classify_lost_gpu();
  return {"xid_" + std::to_string(code), Severity::kWarning, Scope::kGpu, Action::kWatch};
}

bool evacuates_node(Action action) {
  return action == Action::kRebootNode || action == Action::kDrain || action == Action::kRma;
}

std::string place_of(const Event& event) {
  return event.where.empty() ? to_string(event.gpu) : event.where;
}

}  // namespace acrf
