/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/select_acrf/judge.h"

#include "plugins/select_acrf/delegate.h"

extern double us_since(const struct timespec *start, clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return ((now.tv_sec - start->tv_sec) * 1e6) +
	       ((now.tv_nsec - start->tv_nsec) / 1e3);
}

extern job_state_t judge_save_job(job_record_t *job_ptr)
{
	return (job_state_t) {
		.pn_min_memory = job_ptr->details->pn_min_memory,
		.bit_flags = job_ptr->bit_flags,
		.min_cpus = job_ptr->details->min_cpus,
		.total_cpus = job_ptr->total_cpus,
		.start_time = job_ptr->start_time,
		.best_switch = job_ptr->best_switch,
	};
}

extern void judge_restore_job(job_record_t *job_ptr, const job_state_t *state)
{
	job_ptr->details->pn_min_memory = state->pn_min_memory;
	job_ptr->bit_flags = state->bit_flags;
	job_ptr->details->min_cpus = state->min_cpus;
	job_ptr->total_cpus = state->total_cpus;
	job_ptr->start_time = state->start_time;
	job_ptr->best_switch = state->best_switch;
}

extern int judge(const job_test_t *test, bitstr_t *bitmap,
		 List preemptee_candidates, decision_t *decision)
{
	bool spread = acrf_cannot_be_spread(test->job_ptr);
	struct timespec start;
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &start);
	if (spread)	/* only a preference */
		test->job_ptr->bit_flags &= ~SPREAD_JOB;
	rc = delegate.job_test(test->job_ptr, bitmap, test->min_nodes,
			       test->max_nodes, test->req_nodes, test->mode,
			       preemptee_candidates, test->preemptee_job_list,
			       ACRF_JOB_TEST_LAST(test->excluded,
						  test->will_run));
	if (spread)
		test->job_ptr->bit_flags |= SPREAD_JOB;
	decision->delegate_us += us_since(&start, CLOCK_MONOTONIC);
	return rc;
}
