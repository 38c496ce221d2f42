// SPDX-License-Identifier: GPL-2.0-or-later
// What an admin does through ACRF: takes a node or a GPU from the jobs, or gives it back. Such an
// act passes no brake, for a person has decided it, but another owner's drain is left alone here
// too. A drain by an admin has a reason of its own kind: no ladder of ACRF's ever ends it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/node_health.h"
#include "core/recovery.h"

namespace acrf {

struct AdminAct {
  enum class Kind {
    kDrain,
    kReturn,      // ends a drain of ACRF's or of an admin's; a case of ACRF's ends with it
    kQuarantine,  // hides one GPU from the jobs
    kClear,       // ends quarantine, of one GPU or all of the node's, and suspicion and probation
  };
  Kind kind = Kind::kDrain;
  std::string node;
  std::optional<int> gpu;  // as Slurm counts
  std::string reason;      // for people; may be empty
  std::string by;          // "admin alice (1000)", "token ops"
};

std::string_view name_of(AdminAct::Kind kind);
std::optional<AdminAct::Kind> parse_admin_act(std::string_view name);

// What is wrong with the request itself, whatever the node's state; empty: nothing.
std::string fault_in(const AdminAct& act);

// What is true of the node right before the act.
struct AdminView {
  NodeView node;
  int gpus = 0;             // of the node
  bool hides_gpus = false;  // select/acrf is there to keep GPUs in quarantine from jobs
};

// Why the act is not to be done now; empty: it may be.
std::string objection_to(const AdminAct& act, const AdminView& view);

// "acrf drain: bad fan (admin alice (1000))", and whether a reason is such a one.
std::string admin_reason(const AdminAct& act);
bool is_admin_reason(std::string_view reason);

// What the act changes in the node's token.
void change_token(const AdminAct& act, NodeToken& token);

// For the audit log; see core/undo.h. Empty: nothing to undo.
std::string undo_text(const AdminAct& act);

}  // namespace acrf
