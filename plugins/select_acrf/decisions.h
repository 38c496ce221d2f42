/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of decisions, for `acrf explain`: JSON lines in the file
 * acrf-decisions in StateSaveLocation. A decision is put into memory under
 * slurmctld's locks; a thread writes it to the file. When the file has grown
 * to DECISIONS_FILE_SIZE it becomes acrf-decisions.old: both together keep the
 * last hours.
 */
#ifndef ACRF_SELECT_DECISIONS_H
#define ACRF_SELECT_DECISIONS_H

#include "plugins/slurm_compat.h"

#include "plugins/bridge/place_bridge.h"

#define DECISIONS_FILE_SIZE (16 * 1024 * 1024)

typedef struct {
	struct timespec time;
	uint32_t job_id;
	uint16_t mode;		/* SELECT_MODE_* */
	const char *outcome;	/* of place.c's */
	bool ok;		/* cons_tres found room */
	int candidates;
	int nodes, gpus;	/* in the plan */
	int64_t cost, runner_up;
	int leaves, pods, avoidable;
	bool certified;
	const char *shape;
	double total_us, plan_us, delegate_us;
	double refused_us;	/* of delegate_us, on plans that it refused */
	char summary[176];
} decision_t;

/* Start and stop the thread. In slurmctld only */
extern void decisions_start(void);
extern void decisions_stop(void);

extern void decisions_add(const decision_t *decision);

#endif
