/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between the Slurm versions that ACRF is built for. Plugins
 * include this first and Slurm's headers only through it.
 */
#ifndef ACRF_SLURM_COMPAT_H
#define ACRF_SLURM_COMPAT_H

#include "config.h"

#include "src/common/slurm_xlator.h"

#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"
#include "slurm/slurm_version.h"

#include "src/common/bitstring.h"
#include "src/common/gres.h"
#include "src/common/hostlist.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/macros.h"
#include "src/common/node_conf.h"
#include "src/common/plugin.h"
#include "src/common/select.h"
#include "src/common/slurm_cred.h"
#include "src/common/slurm_protocol_api.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#include "src/slurmctld/agent.h"
#include "src/slurmctld/job_scheduler.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/slurmctld.h"
#include "src/slurmctld/state_save.h"

#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(22, 5, 0) || \
	SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(22, 6, 0)
#error "ACRF's plugins know Slurm 22.05"
#endif

/*
 * Programs that link libslurm load select plugins too, and lack slurmctld's
 * data: as weak symbols they are NULL there, where nobody looks at them.
 */
extern List job_list __attribute__((weak));
extern node_record_t **node_record_table_ptr __attribute__((weak));
extern int node_record_count __attribute__((weak));

/*
 * When this slurmctld took control, 0 while it stands by. In no header, but it
 * is what a controller tells its peers. (slurmctld_primary only says which
 * host is configured first, and job_list outlives a return to standby.)
 */
extern time_t control_time;

/* Seconds that slurmctld adds to the begin time of a job it requeues, less 1 */
static inline int acrf_cred_lifetime(void)
{
	int lifetime = 1200;

	(void) slurm_cred_ctx_get(slurmctld_config.cred_ctx,
				  SLURM_CRED_OPT_EXPIRY_WINDOW, &lifetime);
	return lifetime;
}

#endif
