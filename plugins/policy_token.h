/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a job's record keeps the policy that job_submit/acrf gave it. */
#ifndef ACRF_POLICY_TOKEN_H
#define ACRF_POLICY_TOKEN_H

#include "plugins/slurm_compat.h"

#include "plugins/bridge/policy_bridge.h"

/* NULL: the job has none. Points into the job's record */
static inline const char *policy_token(job_record_t *job_ptr)
{
	const size_t prefix = strlen(ACRF_POLICY_ENV);

	for (uint32_t i = 0; i < job_ptr->spank_job_env_size; i++)
		if (!xstrncmp(job_ptr->spank_job_env[i], ACRF_POLICY_ENV,
			      prefix))
			return job_ptr->spank_job_env[i] + prefix;
	return NULL;
}

#endif
