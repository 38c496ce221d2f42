/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cons_tres' own test of a job, timed, and what a refusal must not change. */
#ifndef ACRF_SELECT_JUDGE_H
#define ACRF_SELECT_JUDGE_H

#include <time.h>

#include "plugins/select_acrf/decisions.h"
#include "plugins/select_acrf/place.h"

/* What a refused test may leave changed in the job */
typedef struct {
	uint64_t pn_min_memory, bit_flags;
	uint32_t min_cpus, total_cpus;
	time_t start_time;
	bool best_switch;
} job_state_t;

extern job_state_t judge_save_job(job_record_t *job_ptr);
extern void judge_restore_job(job_record_t *job_ptr, const job_state_t *state);

/* cons_tres' answer for these nodes; its time is added to the decision's */
extern int judge(const job_test_t *test, bitstr_t *bitmap,
		 List preemptee_candidates, decision_t *decision);

extern double us_since(const struct timespec *start, clockid_t clock);

#endif
