/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goes wrong again and again is said once a minute, with how often it
 * happened since. Knows nothing of Slurm.
 */
#ifndef ACRF_COMPLAINT_H
#define ACRF_COMPLAINT_H

#include <time.h>

#define COMPLAINT_INTERVAL_S 60

typedef struct {
	time_t said;
	int unsaid;
} complaint_t;

/* It happened again. RET how often since it was last said, or 0: not yet */
static inline int complaint_due(complaint_t *complaint, time_t now)
{
	int times;

	complaint->unsaid++;
	/* A clock that was set back must not silence it for long */
	if (complaint->said && (now >= complaint->said) &&
	    (now - complaint->said < COMPLAINT_INTERVAL_S))
		return 0;
	times = complaint->unsaid;
	complaint->said = now;
	complaint->unsaid = 0;
	return times;
}

#endif
