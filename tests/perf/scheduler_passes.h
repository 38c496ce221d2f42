/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a replay asks of slurmctld's schedulers, and libslurm's headers lack */
#ifndef ACRF_PERF_SCHEDULER_PASSES_H
#define ACRF_PERF_SCHEDULER_PASSES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes slurmctld's main scheduler run at once. It does so when a node reports
 * the end of an epilog; after a submission it waits for up to a second. This is
 * such a report, of a job that slurmctld no longer knows.
 */
extern void kick_scheduler(void);

/* Passes that were completed; both counts fall to 0 at midnight */
typedef struct {
	uint32_t main;
	uint32_t backfill;
	uint32_t in_backfill;	/* a pass is under way */
} scheduler_passes_t;

/* RET 0 when slurmctld answered */
extern int count_passes(scheduler_passes_t *passes);

#ifdef __cplusplus
}
#endif

#endif
