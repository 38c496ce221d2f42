/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where and when jobs ran last, remembered as long as their records: a requeued job's own
 * forgets both, often before anybody has looked, and with them why it was
 * requeued. One thread's own; after a restart of slurmctld it is filled again
 * by the first look at all jobs.
 */
#ifndef ACRF_LAST_NODES_H
#define ACRF_LAST_NODES_H

#include "plugins/slurm_compat.h"

typedef struct last_nodes last_nodes_t;

typedef struct {
	bitstr_t *nodes;
	time_t started;
	time_t submitted;	/* of a requeued job: when it was requeued */
	uint32_t next_step_id;
} last_run_t;

extern last_nodes_t *last_nodes_create(void);
extern void last_nodes_free(last_nodes_t *last);

/*
 * A look at all jobs: begin, note each job that may matter, end. What is not
 * noted is forgotten. Noting tells whether it is a run not seen before. Needs the
 * job read lock throughout
 */
extern void last_nodes_begin(last_nodes_t *last);
extern bool last_nodes_note(last_nodes_t *last, job_record_t *job_ptr);
extern void last_nodes_end(last_nodes_t *last);

/*
 * The job's last run; NULL: not known. Not to be freed; during a look, ask and
 * be done with it before the job is noted
 */
extern const last_run_t *last_nodes_of(last_nodes_t *last, uint32_t job_id);

#endif
