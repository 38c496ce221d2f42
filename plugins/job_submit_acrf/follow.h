/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A requeued job on its way back, from the requeue to its release.
 *
 * Slurm holds a requeued job back for the lifetime of its old credential
 * (batch_requeue_fini(): begin_time = now + cred_expire + 1, 121 s by default)
 * because a slurmd refuses any credential that is not younger, in whole
 * seconds, than the revocation of the old one. The last revocation of a job
 * is sent before the job stops COMPLETING, and batch_requeue_fini() then notes
 * that second as the submit time. So one second later, by slurmctld's own
 * clock, every slurmd accepts the job again: that is when the delay is taken
 * away.
 *
 * A begin time that is not the one batch_requeue_fini() computes belongs to a
 * user or an admin and is left alone. All that the decision needs is in the
 * job's own record, so a restarted slurmctld goes on where it was.
 *
 * The second duty: a job that ignores SIGTERM would stay COMPLETING for
 * KillWait. On a node that ACRF drained there is nothing left to wait for, so
 * its processes are killed RequeueKillWait seconds after the requeue: first
 * its steps, so that their sruns hear of it, then the script.
 *
 * Slurm numbers the steps of every run from 0 again, and what an srun, a
 * slurmstepd or a message of ours says late about step 0 of the last run would
 * be taken for the next run's. So the next run's steps are numbered on from the
 * last one's.
 *
 * How many jobs are let go in a minute is bounded (RequeuesPerMinute): what
 * takes many nodes at once must not start all their jobs at once.
 *
 * The third: each requeue is counted for its cause (core/requeue_budget.h), and
 * a job that has used up what it may is held, with the reason. A job whose
 * program failed is requeued where the site wants that, once a fault of the
 * hardware would have shown.
 */
#ifndef ACRF_FOLLOW_H
#define ACRF_FOLLOW_H

#include <time.h>

#include "plugins/slurm_compat.h"

#include "plugins/bridge/policy_bridge.h"
#include "plugins/job_submit_acrf/last_nodes.h"

typedef struct {
	uint32_t job_id;
	uint32_t restart_cnt;
	struct timespec seen;	/* when this restart was first seen */
	struct timespec killed;	/* last message; 0: none */
	bool script_killed;	/* after its steps */
	bool kill_may_be_late;	/* and hit the next run, if that starts soon */
	bool counted;
	uint32_t next_step_id;	/* of the last run, which its record forgets */
	int wait_s;		/* after the release: back-off */
	last_run_t run;		/* the last one; nodes NULL: not known */
} follow_t;

/* How many jobs may be let go now; full at the start */
typedef struct {
	double left;
	struct timespec filled;	/* when; 0: never */
} pace_t;

typedef enum {
	FOLLOW_ON,		/* look again */
	FOLLOW_RELEASED,	/* the scheduler may start it now */
	FOLLOW_LEFT,		/* nothing to do for it any more */
} follow_result_t;

/* Is this a job to follow? Needs the job read lock. */
extern bool follow_wants(job_record_t *job_ptr, const acrf_site_t *site);

/* Does ACRF bring this job back? Needs the job read lock. */
extern bool follow_is_ours(job_record_t *job_ptr);

/*
 * `last` is the job's last run, or NULL. Needs the job read lock. Free with
 * follow_free()
 */
extern follow_t *follow_create(job_record_t *job_ptr, const last_run_t *last);
extern void follow_free(void *follow);

/*
 * Do what the job needs now. Needs conf read, job and node write and fed read
 * locks; touches memory only, and queues messages to slurmds.
 */
extern follow_result_t follow_step(follow_t *follow, const acrf_site_t *site,
				   pace_t *pace);

/* By the monotonic clock */
extern double seconds_since(const struct timespec *then);

#endif
