// SPDX-License-Identifier: GPL-2.0-or-later
// The inverse of an act, as the audit log keeps it, and whether it may still be done. An act is
// undone only while the cluster is as the act left it: what an admin changed since is the admin's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/audit_entry.h"
#include "core/node_health.h"
#include "core/recovery.h"
#include "core/result.h"

namespace acrf {

struct Undo {
  enum class Kind {
    kResume,        // "resume NODE"
    kUnquarantine,  // "unquarantine NODE INDEX [UUID]"; the index is the GPU's in the node's token
    kRelease,       // "release JOBID"
    kUncap,         // "uncap NODE UUID"
  };
  Kind kind = Kind::kResume;
  std::string node;
  int gpu = 0;
  std::string gpu_uuid;
  JobId job;
};

std::string to_text(const Undo& undo);
Result<Undo> parse_undo(std::string_view text);

// What the record says can be undone; an Error says why there is nothing to undo.
Result<Undo> undo_of(const AuditRecord& record);

// Whether the node is still drained, by this incident; without one: by an admin through ACRF.
Status may_resume(const std::string& node, const NodeView& view, const std::string& incident);

// Takes the GPU's quarantine away. An Error: it has none any more, and nothing is changed.
Status take_out_of_quarantine(const Undo& undo, NodeHealth& health);

}  // namespace acrf
