/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select_p_job_test() with a proposal: the engine names nodes and GPUs,
 * cons_tres judges and allocates within them; what it refuses it judges again
 * as plain Slurm would, with all nodes. GPUs in quarantine are hidden from it
 * in both cases.
 */
#ifndef ACRF_SELECT_PLACE_H
#define ACRF_SELECT_PLACE_H

#include "plugins/slurm_compat.h"

/* Read acrf.conf and the topology anew, while slurmctld reads its own files */
extern void place_configure(void);

typedef struct {
	job_record_t *job_ptr;
	bitstr_t *bitmap;
	uint32_t min_nodes, max_nodes, req_nodes;
	uint16_t mode;
	List preemptee_candidates;
	List *preemptee_job_list;
	acrf_excluded_t *excluded;
	will_run_data_t *will_run;	/* NULL in 22.05 */
} job_test_t;

extern int place_job_test(const job_test_t *test);

#endif
