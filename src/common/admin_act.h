// SPDX-License-Identifier: GPL-2.0-or-later
// Does what an admin asks for: one way for `acrf drain|return|quarantine|clear` and for the hub.
// The request is in the audit log before slurmctld is asked anything; what cannot be recorded is
// not done.
#pragma once

#include "common/audit_log.h"
#include "common/slurm_client.h"
#include "core/admin_act.h"
#include "core/brake_marks.h"

namespace acrf {

struct AdminOutcome {
  AuditId audit;
  AuditResult result;  // done, failed or skipped; its sentence is for the admin
};

// Blocks for a few calls to slurmctld.
AdminOutcome carry_out(const AdminAct& act, SlurmClient& slurm, AuditLog& audit);

// What was done so far counts for the brakes no more. `topology_dir` has topology.conf.
AdminOutcome reset_brakes(const ResetScope& scope, const std::string& by, SlurmClient& slurm,
                          AuditLog& audit, const std::string& topology_dir);

// "admin alice (1000)": who called this program, through sudo perhaps.
std::string calling_admin();

}  // namespace acrf
