// SPDX-License-Identifier: GPL-2.0-or-later
// What a fault means: its class, how bad it is, how far it reaches and what is to be done.
#pragma once

#include <cstdint>
#include <optional>
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
std::optional<Severity> parse_severity(std::string_view name);
std::optional<Scope> parse_scope(std::string_view name);
std::optional<Action> parse_action(std::string_view name);

struct Verdict {
  std::string fault_class;
  Severity severity = Severity::kInfo;
  Scope scope = Scope::kProcess;
  Action action = Action::kWatch;
  bool at_job_end = false;  // of actions that drain: jobs on the node run to their end
};

// The driver answers that a GPU is gone: the same fault as Xid 79, seen from the other side.
Verdict classify_lost_gpu();

// Actions that take the node out of service and its jobs elsewhere. A GPU that needs a reset cannot
// serve, so this is one of them.
bool evacuates_node(Action action);

// A verdict takes the node out of service only from critical on: what is a warning can wait for the
// end of the job.
bool evacuates(const Verdict& verdict);

// One observation, from whichever source.
struct Event {
  Verdict verdict;
  PciAddress gpu;
  std::string part;      // of the node, where it is no GPU: "fabric", "node" or a device's address
  std::string gpu_uuid;  // empty while unknown
  std::string boot_id;
  std::string source;         // "kernel log", "nvml"
  std::string evidence;       // the line or reading itself
  std::string discriminator;  // with boot_id, this observation's lasting name
  std::int64_t unix_s = 0;    // when it happened

  int rank = 60;  // among the events of a burst the highest is the root; 0: opens no incident
  std::optional<int> xid, sxid;
  std::optional<int> caused_by;            // the Xid that the line names as its cause
  std::string location;                    // inside the GPU: "GPC1/TPC3", "link 14"
  std::optional<PciAddress> peer;          // the other end of the link, where that is known
  bool blames_peer = false;                // the line says that the other end is to blame
  std::optional<Action> shadowed;          // what a rule in Mode=shadow would ask for
  bool ruled_by_site = false;              // a Fault line says what it means: history adds nothing
  std::optional<std::uint64_t> pid;        // of the process that the line names
  std::optional<std::uint64_t> job, user;  // who had the GPU then; nothing: not known
  std::string step;                        // of the job: "0", "batch"; empty: not known
  // What other nodes have too and what may be to blame: "/scratch", a file system, or
  // "driver-570.86.10", a driver that is not a day old here. Empty: nothing that is known.
  std::string shared;
};

// "0000:1a:00", or the part of the node.
std::string place_of(const Event& event);

// "xid 79", "sxid 20034" or the class.
std::string label_of(const Event& event);

}  // namespace acrf
