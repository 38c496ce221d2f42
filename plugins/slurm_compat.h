/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between the Slurm versions that ACRF is built for, 22.05 and
 * 24.11. Plugins include this first and Slurm's headers only through it.
 */
#ifndef ACRF_SLURM_COMPAT_H
#define ACRF_SLURM_COMPAT_H

#include "config.h"

#include <limits.h>

#include "src/common/slurm_xlator.h"

#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"
#include "slurm/slurm_version.h"

#define ACRF_IS_SLURM(year, month) \
	((SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(year, month, 0)) && \
	 (SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(year, month + 1, 0)))
#define ACRF_SLURM_22_05 ACRF_IS_SLURM(22, 5)
#define ACRF_SLURM_24_11 ACRF_IS_SLURM(24, 11)
#if !ACRF_SLURM_22_05 && !ACRF_SLURM_24_11
#error "ACRF's plugins know Slurm 22.05 and 24.11"
#endif

#include "src/common/bitstring.h"
#include "src/common/hostlist.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/macros.h"
#include "src/common/node_conf.h"
#include "src/common/plugin.h"
#include "src/common/slurm_protocol_api.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#if ACRF_SLURM_22_05
#include "src/common/gres.h"
#include "src/common/select.h"
#include "src/common/slurm_cred.h"
#else
#include "src/interfaces/cred.h"
#include "src/interfaces/gres.h"
#include "src/interfaces/select.h"
#endif
#include "src/slurmctld/agent.h"
#include "src/slurmctld/job_scheduler.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/slurmctld.h"
#include "src/slurmctld/state_save.h"

#if ACRF_SLURM_22_05
typedef struct job_details job_details_t;
#else
typedef list_t *List;
typedef list_itr_t *ListIterator;
/* Words before a bitmap's own; in no header now. place.c checks it */
#define BITSTR_OVERHEAD 2
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

/* The last parameters of select_p_job_test(): what the job may not use, and
 * in 24.11 the time for which a "will run" is asked */
#if ACRF_SLURM_22_05
typedef bitstr_t acrf_excluded_t;
typedef struct will_run_data will_run_data_t;
#define ACRF_JOB_TEST_LAST(excluded, will_run) excluded
#else
typedef resv_exc_t acrf_excluded_t;
#define ACRF_JOB_TEST_LAST(excluded, will_run) excluded, will_run
#endif

/* Not asked whether the job can run now */
static inline bool acrf_is_later(const will_run_data_t *will_run)
{
#if ACRF_SLURM_22_05
	return false;
#else
	return will_run && (will_run->start > time(NULL));
#endif
}

/* The last parameters of a job_submit plugin's job_modify() */
#if ACRF_SLURM_22_05
#define ACRF_JOB_MODIFY_LAST(uid, err_msg) uid
#else
#define ACRF_JOB_MODIFY_LAST(uid, err_msg) uid, err_msg
#endif

/* Seconds that slurmctld adds to the begin time of a job it requeues, less 1 */
static inline int acrf_cred_lifetime(void)
{
#if ACRF_SLURM_22_05
	int lifetime = 1200;

	(void) slurm_cred_ctx_get(slurmctld_config.cred_ctx,
				  SLURM_CRED_OPT_EXPIRY_WINDOW, &lifetime);
	return lifetime;
#else
	return cred_expiration();
#endif
}

/* What shares the node's GPUs (gres/mps, gres/shard); NULL: nothing */
static inline gres_node_state_t *acrf_sharers(gres_node_state_t *gpus)
{
#if ACRF_SLURM_22_05
	return gpus->alt_gres_ns;
#else
	return gpus->alt_gres ? gpus->alt_gres->gres_data : NULL;
#endif
}

/*
 * The job gets all of its nodes: --exclusive, or a partition's doing, which
 * 24.11 notes in the job while it tries to start it, not for backfill's
 * questions
 */
static inline bool acrf_takes_whole_nodes(job_record_t *job_ptr)
{
#if ACRF_SLURM_22_05
	return job_ptr->details->whole_node == WHOLE_NODE_REQUIRED;
#else
	return (job_ptr->details->whole_node & WHOLE_NODE_REQUIRED) ||
	       (job_ptr->part_ptr && !job_ptr->part_ptr->max_share);
#endif
}

/* The job wants a shape that only Slurm's own search knows */
static inline bool acrf_is_shaped_by_slurm(job_record_t *job_ptr)
{
#if ACRF_SLURM_22_05
	return false;
#else
	return IS_JOB_WHOLE_TOPO(job_ptr) ||
	       job_ptr->details->job_size_bitmap ||
	       job_ptr->details->segment_size;
#endif
}

static inline int acrf_counts_per_job(void *x, void *key)
{
	gres_job_state_t *gres_js = ((gres_state_t *) x)->gres_data;

	return gres_js && gres_js->gres_per_job;
}

/*
 * cons_tres would crash on the job: in 24.11 the search for --spread-job
 * follows a NULL pointer when GPUs are asked for in total (--gpus)
 */
static inline bool acrf_cannot_be_spread(job_record_t *job_ptr)
{
	return ACRF_SLURM_24_11 && (job_ptr->bit_flags & SPREAD_JOB) &&
	       job_ptr->gres_list_req &&
	       list_find_first(job_ptr->gres_list_req, acrf_counts_per_job,
			       NULL);
}

#endif
