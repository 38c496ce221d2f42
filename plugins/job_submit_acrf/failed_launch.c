/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/job_submit_acrf/failed_launch.h"

/* job_mgr.c writes it for JOB_REQUEUE_HOLD | JOB_LAUNCH_FAILED and nothing else */
#define HELD_BY_SLURM "launch failed requeued held"

extern bool failed_launch_holds(job_record_t *job_ptr)
{
	return !job_ptr->priority && !job_ptr->direct_set_prio &&
	       (job_ptr->state_reason == WAIT_HELD_USER) &&
	       !xstrcmp(job_ptr->state_desc, HELD_BY_SLURM) &&
	       !job_ptr->fed_details && !job_ptr->het_job_id;
}

extern void failed_launch_lift(job_record_t *job_ptr)
{
	set_job_prio(job_ptr);
	job_ptr->state_reason = WAIT_NO_REASON;
	xfree(job_ptr->state_desc);
	job_ptr->exit_code = 0;
	info("job_submit/acrf: %pJ, which Slurm held after a failed launch, may start again",
	     job_ptr);
}
