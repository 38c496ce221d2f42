/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals to a job's processes that do not go through the job's state:
 * slurmctld's own way to send them cancels the requeue of a job that completes.
 */
#ifndef ACRF_SEND_SIGNAL_H
#define ACRF_SEND_SIGNAL_H

#include "plugins/slurm_compat.h"

/*
 * To the job's steps on these nodes (KILL_STEPS_ONLY) or to its batch script
 * and all that this has started (KILL_FULL_JOB). slurmd does not ask which run
 * of the job is meant, so the message must not arrive late: it is not retried,
 * and callers neither send it when agents queue up nor let the job start again
 * soon. Needs job read and node read locks; queues a message.
 */
extern void send_signal(job_record_t *job_ptr, bitstr_t *nodes, uint16_t flags,
			uint16_t signal);

/*
 * To one step of it. The steps of a later run have other numbers (follow.h), so
 * that it does not matter how late this arrives.
 */
extern void send_step_signal(step_record_t *step_ptr, bitstr_t *nodes,
			     uint16_t signal);

#endif
