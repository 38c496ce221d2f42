/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that brings requeued jobs back. See release.c.
 */
#ifndef ACRF_RELEASE_H
#define ACRF_RELEASE_H

#include "plugins/slurm_compat.h"

extern int release_thread_start(void);

/*
 * Ask the thread to end. Returns at once when the thread waits for slurmctld's
 * locks, because the caller may be the one that holds them.
 */
extern void release_thread_stop(void);

#endif
