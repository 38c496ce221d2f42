/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that Slurm itself holds because a node could not launch them: a prolog
 * that failed, a slurmd that died over it. slurmd asks for the requeue and the
 * hold in one message. Such a job has done nothing wrong; ACRF counts the
 * requeue against MaxNodeRequeues and lets the job go.
 */
#ifndef ACRF_FAILED_LAUNCH_H
#define ACRF_FAILED_LAUNCH_H

#include "plugins/slurm_compat.h"

/*
 * The hold is Slurm's own. One by a user or an admin has another reason or,
 * like a priority that somebody set, marks the job; and "job requeued in held
 * state" is what people ask for by scontrol requeuehold. Needs the job read
 * lock
 */
extern bool failed_launch_holds(job_record_t *job_ptr);

/* As `scontrol release` would. Needs the job write lock */
extern void failed_launch_lift(job_record_t *job_ptr);

#endif
