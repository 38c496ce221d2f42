// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's record of a job, for the story of its life. Needs a SlurmClient in the process.
#pragma once

#include "core/job_life.h"
#include "core/recovery.h"
#include "core/result.h"

namespace acrf {

// An Error when slurmctld does not know the job, or does not answer.
Result<LifeFacts> load_life_facts(JobId job);

}  // namespace acrf
