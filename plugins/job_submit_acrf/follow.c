/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/job_submit_acrf/follow.h"

#include <sys/wait.h>

#include "plugins/bridge/left_bridge.h"
#include "plugins/job_submit_acrf/cause.h"
#include "plugins/job_submit_acrf/drained.h"
#include "plugins/job_submit_acrf/failed_launch.h"
#include "plugins/job_submit_acrf/send_signal.h"
#include "plugins/policy_token.h"

#define RELEASE_AFTER_KILL_S 2
#define KILL_ON_ITS_WAY_S 0.3	/* until slurmctld counts its message */
#define SCRIPT_AFTER_STEPS_S 1.5 /* an srun that is killed can't be told of it */
#define MOST_STEPS 8		/* that get messages of their own */
#define VERDICT_WAIT_S 15	/* for a fault of the hardware to show */
#define VERDICT_LATE_S 300	/* older failures are left alone */

extern double seconds_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - then->tv_sec) +
	       (now.tv_nsec - then->tv_nsec) / 1e9;
}

/* How the policies of jobs that ACRF looks after begin */
static const char *const requeue_tokens[] = {
	"acrf:policy=requeue",
	"acrf:policy=failover",
};

extern bool follow_is_ours(job_record_t *job_ptr)
{
	const char *token = policy_token(job_ptr);

	/* scrontab's jobs are requeued after each run, to a time of their own */
	if (!token || (job_ptr->bit_flags & CRON_JOB))
		return false;
	for (int t = 0; t < ARRAY_SIZE(requeue_tokens); t++)
		if (!xstrncmp(token, requeue_tokens[t],
			      strlen(requeue_tokens[t])))
			return true;
	return false;
}

/* PENDING after a requeue, whether its last run has ended or not */
static bool _is_coming_back(job_record_t *job_ptr)
{
	return IS_JOB_PENDING(job_ptr) && job_ptr->restart_cnt &&
	       job_ptr->details && follow_is_ours(job_ptr);
}

/*
 * 22.05 forgets batch_requeue_fini() when a node goes down while a requeued
 * job completes: the job would start at once, with what is left of its last run
 */
static bool _is_unfinished(job_record_t *job_ptr)
{
	return !IS_JOB_COMPLETING(job_ptr) && job_ptr->batch_flag &&
	       job_ptr->node_bitmap;
}

static bool _is_held_by_requeue(job_record_t *job_ptr)
{
	time_t held = job_ptr->details->begin_time -
		      job_ptr->details->submit_time;
	int lifetime = acrf_cred_lifetime();

	/* batch_requeue_fini() may move the submit time by a second */
	return (held == lifetime) || (held == lifetime + 1);
}

/*
 * A node that does not respond to slurmctld may be alive and still ending the
 * job. Only acrf-healthd, there or on its neighbours, knows better.
 */
static bool _has_left(job_record_t *job_ptr, node_record_t *node_ptr)
{
	return node_ptr && drained_by_acrf(node_ptr) &&
	       IS_NODE_NO_RESPOND(node_ptr) &&
	       acrf_has_left(node_ptr->comment, job_ptr->job_id);
}

/*
 * A node that ACRF drained and that does not respond will not say that the job
 * has ended there: said in its place. Not DOWN, which makes 22.05 forget
 * batch_requeue_fini() for a job that completes.
 */
static void _end_on_gone_nodes(job_record_t *job_ptr)
{
	for (int i = 0; i < node_record_count; i++) {
		node_record_t *node_ptr = node_record_table_ptr[i];

		if (!IS_JOB_COMPLETING(job_ptr) || !job_ptr->node_bitmap_cg ||
		    (bit_size(job_ptr->node_bitmap_cg) != node_record_count))
			return;
		if (!bit_test(job_ptr->node_bitmap_cg, i) ||
		    !_has_left(job_ptr, node_ptr))
			continue;
		info("job_submit/acrf: %pJ no longer waits for node %s, which does not respond and has nothing of it any more",
		     job_ptr, node_ptr->name);
		job_epilog_complete(job_ptr->job_id, node_ptr->name, 0);
	}
}

/* There are numbers left for another run: a job may have but so many steps */
static bool _numbers_steps_on(follow_t *follow)
{
	return follow->next_step_id <= slurm_conf.max_step_cnt / 2;
}

/* See follow.h. When nobody saw the last run's steps, it had one, as most do */
static void _number_steps_on(job_record_t *job_ptr, follow_t *follow)
{
	if (!_numbers_steps_on(follow))
		return;
	job_ptr->next_step_id = MAX(job_ptr->next_step_id,
				    MAX(follow->next_step_id,
					job_ptr->restart_cnt));
}

static bool _on_node_drained_by_acrf(job_record_t *job_ptr)
{
	return find_node(job_ptr->node_bitmap, drained_by_acrf) != NULL;
}

static bool _may_get_next_run(node_record_t *node_ptr)
{
	return !drained_by_acrf(node_ptr);
}

/* By srun: neither the batch script's nor one that Slurm made itself */
static bool _was_started_by_srun(step_record_t *step_ptr)
{
	return step_ptr->step_id.step_id < SLURM_MAX_NORMAL_STEP_ID;
}

static int _count_step(void *x, void *arg)
{
	*(int *) arg += _was_started_by_srun(x);
	return 0;
}

static int _kill_step(void *x, void *arg)
{
	step_record_t *step_ptr = x;
	bitstr_t *nodes = arg;

	if (_was_started_by_srun(step_ptr))
		send_step_signal(step_ptr, nodes, SIGKILL);
	return 0;
}

/* The messages to its steps name them, and can't hit those of another run */
static bool _can_name_steps(job_record_t *job_ptr, follow_t *follow)
{
	int cnt = 0;

	if (job_ptr->step_list)
		list_for_each(job_ptr->step_list, _count_step, &cnt);
	return (cnt <= MOST_STEPS) && _numbers_steps_on(follow);
}

/*
 * Kill what the job has on the nodes of which this is true. RET true if that may
 * hit its next run, when it comes late
 */
static bool _kill_on(job_record_t *job_ptr, follow_t *follow,
		     bool (*is_it)(node_record_t *), bool script)
{
	bitstr_t *nodes = bit_copy(job_ptr->node_bitmap_cg);
	bool named = !script && _can_name_steps(job_ptr, follow);
	bool any;

	for (bitoff_t i = bit_ffs(nodes), last = bit_fls(nodes);
	     (i >= 0) && (i <= last); i++)
		if (bit_test(nodes, i) && (!node_record_table_ptr[i] ||
					   !is_it(node_record_table_ptr[i])))
			bit_clear(nodes, i);
	any = (bit_ffs(nodes) >= 0);
	if (any && named)
		list_for_each(job_ptr->step_list, _kill_step, nodes);
	else if (any)
		send_signal(job_ptr, nodes,
			    script ? KILL_FULL_JOB : KILL_STEPS_ONLY, SIGKILL);
	FREE_NULL_BITMAP(nodes);
	return any && !named;
}

/*
 * Two messages: one for a node that hangs is under way for long, and does not
 * matter, since its node gets no job
 */
static void _kill_stubborn(job_record_t *job_ptr, follow_t *follow)
{
	bool script = follow->killed.tv_sec;

	if (!job_ptr->node_bitmap_cg ||
	    (bit_ffs(job_ptr->node_bitmap_cg) < 0) || LOTS_OF_AGENTS)
		return;
	if (script && (seconds_since(&follow->killed) < SCRIPT_AFTER_STEPS_S))
		return;
	info("job_submit/acrf: killing %s of %pJ, which is still ending on a node that ACRF drained",
	     script ? "the script" : "the steps", job_ptr);
	(void) _kill_on(job_ptr, follow, drained_by_acrf, script);
	if (_kill_on(job_ptr, follow, _may_get_next_run, script))
		follow->kill_may_be_late = true;
	follow->script_killed = script;
	clock_gettime(CLOCK_MONOTONIC, &follow->killed);
}

/* A begin time that can't be taken for batch_requeue_fini()'s */
static void _set_begin_time(job_record_t *job_ptr, time_t now, int wait_s)
{
	job_ptr->details->begin_time = now + wait_s;
	while (_is_held_by_requeue(job_ptr))
		job_ptr->details->begin_time++;
}

/* RET true when one more job may be let go, which then counts */
static bool _take_turn(pace_t *pace, int per_minute)
{
	if (!per_minute)
		return true;
	if (!pace->filled.tv_sec)
		pace->left = per_minute;
	else
		pace->left += seconds_since(&pace->filled) * per_minute / 60;
	pace->left = MIN(pace->left, per_minute);
	clock_gettime(CLOCK_MONOTONIC, &pace->filled);
	if (pace->left < 1)
		return false;
	pace->left--;
	return true;
}

/* slurmctld has no message under way, of whatever kind: the kills arrived */
static bool _kills_have_arrived(follow_t *follow)
{
	double since = seconds_since(&follow->killed);

	return !follow->kill_may_be_late || (since >= RELEASE_AFTER_KILL_S) ||
	       ((since >= KILL_ON_ITS_WAY_S) && !get_agent_count() &&
		!retry_list_size());
}

static bool _release(job_record_t *job_ptr, follow_t *follow, time_t now,
		     const acrf_site_t *site, pace_t *pace)
{
	if ((now <= job_ptr->details->submit_time) ||
	    !_kills_have_arrived(follow) ||
	    !_take_turn(pace, acrf_site_requeues_per_minute(site)))
		return false;
	if (acrf_site_enforces(site) && failed_launch_holds(job_ptr))
		failed_launch_lift(job_ptr);
	_number_steps_on(job_ptr, follow);
	_set_begin_time(job_ptr, now, follow->wait_s);
	if (!follow->wait_s && (job_ptr->state_reason == WAIT_TIME)) {
		job_ptr->state_reason = WAIT_NO_REASON;
		xfree(job_ptr->state_desc);
	}
	last_job_update = now;
	info("job_submit/acrf: released %pJ, restart %u, to start in %d s",
	     job_ptr, job_ptr->restart_cnt, follow->wait_s);
	return true;
}

static int _exit_status(job_record_t *job_ptr)
{
	int status = job_ptr->exit_code;

	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
				     WEXITSTATUS(status);
}

static void _hold(job_record_t *job_ptr, const char *reason)
{
	job_ptr->priority = 0;
	job_ptr->state_reason = WAIT_HELD_USER;
	xfree(job_ptr->state_desc);
	job_ptr->state_desc = xstrdup(reason);
	last_job_update = time(NULL);
	info("job_submit/acrf: held %pJ: %s", job_ptr, reason);
}

/*
 * Count the requeue of a job that ran on these nodes, and hold the job if it
 * has used up its budget. RET seconds it is to wait
 */
static int _count(job_record_t *job_ptr, const acrf_site_t *site,
		  const last_run_t *last, time_t ended, bitstr_t *nodes,
		  acrf_cause_t cause, int status)
{
	acrf_run_t run = {
		.submitted = last->submitted,
		.started = last->started,
		.ended = ended ? ended : job_ptr->details->submit_time,
		.node = requeue_blamed(job_ptr, nodes, cause),
	};
	acrf_requeue_t requeue;
	int wait_s = 0;

	if (acrf_requeue_count(site, job_ptr->admin_comment,
			       job_ptr->restart_cnt, cause, status, &run,
			       &requeue) > 0) {
		xfree(job_ptr->admin_comment);
		job_ptr->admin_comment = xstrdup(requeue.comment);
		if (requeue.hold)
			_hold(job_ptr, requeue.reason);
		wait_s = requeue.wait_s;
	}
	acrf_requeue_free(&requeue);
	return wait_s;
}

/* Slurm also calls jobs FAILED that it never started */
static bool _program_failed(job_record_t *job_ptr)
{
	int status = job_ptr->exit_code;

	return IS_JOB_FAILED(job_ptr) && !IS_JOB_COMPLETING(job_ptr) &&
	       job_ptr->nodes && (job_ptr->exit_code != NO_VAL) &&
	       ((job_ptr->state_reason == FAIL_EXIT_CODE) ||
		((job_ptr->state_reason == FAIL_LAUNCH) && WIFSIGNALED(status)));
}

/* Its program failed, and a fault of the hardware may still explain it */
static bool _may_be_retried(job_record_t *job_ptr, const acrf_site_t *site)
{
	return acrf_site_retries(site) && _program_failed(job_ptr) &&
	       (time(NULL) - job_ptr->end_time <= VERDICT_LATE_S) &&
	       job_ptr->batch_flag && job_ptr->part_ptr && job_ptr->details &&
	       job_ptr->details->requeue && !job_ptr->fed_details &&
	       follow_is_ours(job_ptr) &&
	       acrf_may_retry(site, job_ptr->admin_comment,
			      _exit_status(job_ptr));
}

/*
 * The nodes of a job that has ended; to be freed. A slurmctld that was restarted
 * since then knows them by name only.
 */
static bitstr_t *_ended_on(job_record_t *job_ptr)
{
	__auto_type hosts = hostlist_create(job_ptr->nodes);
	bitstr_t *nodes = bit_alloc(node_record_count);
	char *name;

	while (hosts && (name = hostlist_shift(hosts))) {
		node_record_t *node_ptr = find_node_record(name);

		if (node_ptr)
			bit_set(nodes, node_ptr->index);
		free(name);
	}
	if (hosts)
		hostlist_destroy(hosts);
	return nodes;
}

static follow_result_t _retry(job_record_t *job_ptr, follow_t *follow,
			      const acrf_site_t *site)
{
	time_t now = time(NULL);
	int status = _exit_status(job_ptr), wait_s;
	time_t ended = job_ptr->end_time;

	/* Seen: when its end was complete, and the last revocation sent */
	if ((now - job_ptr->end_time < VERDICT_WAIT_S) ||
	    (seconds_since(&follow->seen) < RELEASE_AFTER_KILL_S))
		return FOLLOW_ON;
	FREE_NULL_BITMAP(follow->run.nodes);
	follow->run.nodes = _ended_on(job_ptr);
	if (find_node(follow->run.nodes, drained_by_acrf))
		return FOLLOW_LEFT;	/* acrf-healthd's case */
	if (job_requeue(slurm_conf.slurm_user_id, job_ptr->job_id, NULL, false,
			0) || !IS_JOB_PENDING(job_ptr))
		return FOLLOW_LEFT;
	info("job_submit/acrf: requeued %pJ, which had ended with status %d",
	     job_ptr, status);
	wait_s = _count(job_ptr, site, &follow->run, ended, follow->run.nodes,
			ACRF_APPLICATION, status);
	_number_steps_on(job_ptr, follow);
	_set_begin_time(job_ptr, now, wait_s);
	last_job_update = now;
	return FOLLOW_RELEASED;
}

extern bool follow_wants(job_record_t *job_ptr, const acrf_site_t *site)
{
	if (IS_JOB_FINISHED(job_ptr))
		return _may_be_retried(job_ptr, site);
	return _is_coming_back(job_ptr) &&
	       (IS_JOB_COMPLETING(job_ptr) || _is_unfinished(job_ptr) ||
		_is_held_by_requeue(job_ptr));
}

extern follow_t *follow_create(job_record_t *job_ptr, const last_run_t *last)
{
	follow_t *follow = xmalloc(sizeof(*follow));

	follow->job_id = job_ptr->job_id;
	follow->restart_cnt = job_ptr->restart_cnt;
	follow->next_step_id = job_ptr->next_step_id;
	if (last) {
		follow->run = *last;
		follow->run.nodes = bit_copy(last->nodes);
		follow->next_step_id = MAX(follow->next_step_id,
					   last->next_step_id);
	}
	clock_gettime(CLOCK_MONOTONIC, &follow->seen);
	return follow;
}

extern void follow_free(void *x)
{
	follow_t *follow = x;

	FREE_NULL_BITMAP(follow->run.nodes);
	xfree(follow);
}

extern follow_result_t follow_step(follow_t *follow, const acrf_site_t *site,
				   pace_t *pace)
{
	job_record_t *job_ptr = find_job_record(follow->job_id);

	if (!job_ptr || !follow_wants(job_ptr, site) ||
	    (job_ptr->restart_cnt != follow->restart_cnt))
		return FOLLOW_LEFT;
	if (IS_JOB_FINISHED(job_ptr))
		return _retry(job_ptr, follow, site);
	if (!follow->counted) {
		bitstr_t *nodes = job_ptr->node_bitmap ? job_ptr->node_bitmap :
							 follow->run.nodes;

		follow->wait_s = _count(job_ptr, site, &follow->run,
					job_ptr->end_time, nodes,
					requeue_cause(job_ptr, nodes), 0);
		follow->counted = true;
	}
	if (_is_unfinished(job_ptr))
		batch_requeue_fini(job_ptr);
	if (!IS_JOB_COMPLETING(job_ptr))
		return _release(job_ptr, follow, time(NULL), site, pace) ?
			FOLLOW_RELEASED : FOLLOW_ON;
	_end_on_gone_nodes(job_ptr);
	if (IS_JOB_COMPLETING(job_ptr) && !follow->script_killed &&
	    (seconds_since(&follow->seen) >= acrf_site_kill_wait_s(site)) &&
	    _on_node_drained_by_acrf(job_ptr))
		_kill_stubborn(job_ptr, follow);
	return FOLLOW_ON;
}
