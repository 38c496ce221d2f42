// SPDX-License-Identifier: GPL-2.0-or-later
// What a fault means: its class, how bad it is, how far it reaches and what is to be done.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/xid.h"

namespace acrf {

enum class Severity { kInfo, kWarning, kCritical, kFatal };
enum class Scope { kProcess, kGpu, kNode, kFabric };
enum class Action {
  kIgnore,
  kWatch,
  kRestartApp,
  kResetGpu,
  kRebootNode,
  kDrain,
  kRma,
  kCheckFabric,
};

std::string_view name_of(Severity severity);
std::string_view name_of(Scope scope);
std::string_view name_of(Action action);

struct Verdict {
  std::string fault_class;
  Severity severity = Severity::kInfo;
  Scope scope = Scope::kProcess;
  Action action = Action::kWatch;
  bool at_job_end = false;  // of actions that drain: jobs on the node run to their end
};

// A code that is not in the catalog is watched, never acted on.
Verdict classify_xid(int code);

// The driver answers that a GPU is gone: the same fault as Xid 79, seen from the other side.
Verdict classify_lost_gpu();

// Actions that take the node out of service and its jobs elsewhere.
bool evacuates_node(Action action);

// One observation, from whichever source.
struct Event {
  Verdict verdict;
  PciAddress gpu;
  std::string where;     // what it is about when that is no GPU: "mlx5_0/1"
  std::string gpu_uuid;  // empty while unknown
  std::string boot_id;
  std::string source;         // "kernel log", "nvml"
  std::string evidence;       // the line or reading itself
  std::string discriminator;  // with boot_id, this observation's lasting name
  std::int64_t unix_s = 0;    // when it happened
};

// `where` when it is given, else the GPU's address.
std::string place_of(const Event& event);

}  // namespace acrf
