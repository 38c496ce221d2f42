/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/select_acrf/refusals.h"

#define REMEMBERED_JOBS 4096	/* that wait and are refused in each pass */
#define CHEAP_REFUSAL_US 1000.0
#define REFUSAL_SHARE 40	/* refusals may take 1/N of cons_tres' time */

/* Under slurmctld's job write lock, as every test of a job */
static struct {
	uint32_t job_id;
	double debt_us;		/* cons_tres' time until the next try */
} refused[REMEMBERED_JOBS];

extern bool refusals_worth_trying(const job_record_t *job_ptr)
{
	uint32_t slot = job_ptr->job_id % REMEMBERED_JOBS;

	return (refused[slot].job_id != job_ptr->job_id) ||
	       (refused[slot].debt_us <= 0);
}

extern void refusals_pay(const job_record_t *job_ptr, double spent_us)
{
	uint32_t slot = job_ptr->job_id % REMEMBERED_JOBS;

	if (refused[slot].job_id == job_ptr->job_id)
		refused[slot].debt_us -= spent_us;
}

extern void refusals_note(const job_record_t *job_ptr, double spent_us)
{
	uint32_t slot = job_ptr->job_id % REMEMBERED_JOBS;

	if (spent_us <= CHEAP_REFUSAL_US)
		return;
	refused[slot].job_id = job_ptr->job_id;
	refused[slot].debt_us = spent_us * REFUSAL_SHARE;
}
