/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a job was requeued, and which of its nodes is to blame. */
#ifndef ACRF_CAUSE_H
#define ACRF_CAUSE_H

#include "plugins/slurm_compat.h"

#include "plugins/bridge/policy_bridge.h"

/*
 * As far as the job's record and the nodes that it ran on (NULL: not known)
 * tell. Needs job and node read locks
 */
extern acrf_cause_t requeue_cause(job_record_t *job_ptr, bitstr_t *nodes);

/* NULL: none of them, as far as anybody knows. Not to be freed */
extern const char *requeue_blamed(job_record_t *job_ptr, bitstr_t *nodes,
				  acrf_cause_t cause);

/*
 * The first of the nodes of which this is true, or the first if it is NULL;
 * NULL: none
 */
extern node_record_t *find_node(bitstr_t *nodes,
				bool (*is_it)(node_record_t *));

#endif
