// SPDX-License-Identifier: GPL-2.0-or-later
// What an admin's act would come to, without doing it.
#pragma once

#include "common/slurm_client.h"
#include "core/admin_act.h"
#include "core/audit_entry.h"

namespace acrf {

// What carry_out() would come to now: nothing is done and nothing recorded.
AuditResult rehearse(const AdminAct& act, SlurmClient& slurm);

}  // namespace acrf
