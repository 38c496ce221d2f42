/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which nodes of a running failover job are lost: taken out of service by ACRF.
 * The word acrf-lost: in the job's admin comment names them (core/failover.h),
 * and the launcher in the job's batch script, which restarts the job's step
 * without them, is woken by a signal that means nothing to anybody else.
 */
#ifndef ACRF_LOSSES_H
#define ACRF_LOSSES_H

#include "plugins/slurm_compat.h"

#define ACRF_LOST_WORD "acrf-lost:"

/* Is the word not as it should be? Needs job and node read locks. */
extern bool losses_changed(job_record_t *job_ptr);

/* Write the word and wake the launcher. Needs job write and node read locks. */
extern void losses_write(job_record_t *job_ptr);

#endif
