// SPDX-License-Identifier: GPL-2.0-or-later
// POST /v1/actions: what an admin asks for, done by the same code as the acrf command's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/admin_act.h"
#include "core/config.h"

namespace acrf::hub {

struct ActionRequest {
  std::string action;  // drain, return, quarantine, clear, brakes-reset, inject
  std::string node;
  std::optional<int> gpu;
  std::string reason;
  std::string fault;  // of inject
};

// kInvalid: malformed, or something that no cluster could do.
Result<ActionRequest> parse_action(std::string_view body);

// What is done with an action; `by` is for the audit log.
using Actions = std::function<AdminOutcome(const ActionRequest&, const std::string& by)>;

struct ActionParts {
  SlurmClient& slurm;
  AuditLog& audit;
  const Config& config;  // of a test cluster: where faults are injected
  std::string topology_dir;
  bool test_cluster = false;
};

// All outlive what is returned.
Actions make_actions(ActionParts parts);

}  // namespace acrf::hub
