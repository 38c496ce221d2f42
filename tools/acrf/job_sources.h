// SPDX-License-Identifier: GPL-2.0-or-later
// Everything about a job that is within reach from this host: slurmctld's record of it, select's
// decisions, its checkpoint directory, and the audit logs of its nodes, which a hub knows, too. What
// is not within reach is named, and left out.
#pragma once

#include <string>
#include <vector>

#include "core/config.h"
#include "core/job_life.h"
#include "core/result.h"
#include "hub_client.h"

namespace acrf {

struct JobSources {
  LifeSources life;
  std::vector<std::string> missing;  // what could not be read, and why
};

// An Error when slurmctld does not know the job, or does not answer. `hub` may be null.
Result<JobSources> gather_job_sources(std::uint32_t job, const Config& config,
                                      const HubClient* hub);

}  // namespace acrf
