/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/job_submit_acrf/follow.h"

#include <sys/wait.h>

#include "plugins/policy_token.h"

#define ACRF_REASON "ACRF: "
#define RELEASE_AFTER_KILL_S 2
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

static bool _is_held_by_requeue(job_record_t *job_ptr)
{
	time_t held = job_ptr->details->begin_time -
		      job_ptr->details->submit_time;
	int lifetime = acrf_cred_lifetime();

	/* batch_requeue_fini() may move the submit time by a second */
	return (held == lifetime) || (held == lifetime + 1);
}

static bool _drained_by_acrf(node_record_t *node_ptr)
{
	return IS_NODE_DRAIN(node_ptr) &&
	       !xstrncmp(node_ptr->reason, ACRF_REASON, strlen(ACRF_REASON));
}

static bool _is_down(node_record_t *node_ptr)
{
	return IS_NODE_DOWN(node_ptr) || IS_NODE_NO_RESPOND(node_ptr);
}

/* The first of the nodes of which this is true; NULL: none */
static node_record_t *_find_node(bitstr_t *nodes,
				 bool (*is_it)(node_record_t *))
{
	if (!nodes || (bit_size(nodes) != node_record_count))
		return NULL;
	for (bitoff_t i = bit_ffs(nodes), last = bit_fls(nodes);
	     (i >= 0) && (i <= last); i++)
		if (bit_test(nodes, i) && node_record_table_ptr[i] &&
		    (!is_it || is_it(node_record_table_ptr[i])))
			return node_record_table_ptr[i];
	return NULL;
}

static bool _on_node_drained_by_acrf(job_record_t *job_ptr)
{
	return _find_node(job_ptr->node_bitmap, _drained_by_acrf) != NULL;
}

/*
 * SIGKILL to the job's steps or, with KILL_FULL_JOB, its batch script. slurmd
 * does not ask which run of the job is meant, so the message must not arrive
 * late: it is not retried, not sent when agents queue up, and the job is not
 * released for RELEASE_AFTER_KILL_S.
 */
static agent_arg_t *_kill_request(job_record_t *job_ptr, uint16_t flags)
{
	agent_arg_t *request = xmalloc(sizeof(*request));
	signal_tasks_msg_t *msg = xmalloc(sizeof(*msg));
	bitstr_t *nodes = job_ptr->node_bitmap_cg;

	request->msg_type = REQUEST_SIGNAL_TASKS;
	request->retry = 0;
	request->protocol_version = SLURM_PROTOCOL_VERSION;
	request->hostlist = hostlist_create(NULL);
	for (bitoff_t i = bit_ffs(nodes), last = bit_fls(nodes);
	     (i >= 0) && (i <= last); i++) {
		node_record_t *node_ptr = node_record_table_ptr[i];

		if (!bit_test(nodes, i) || !node_ptr)
			continue;
		request->protocol_version = MIN(request->protocol_version,
						node_ptr->protocol_version);
		hostlist_push_host(request->hostlist, node_ptr->name);
		request->node_count++;
	}
	msg->step_id.job_id = job_ptr->job_id;
	msg->step_id.step_id = slurm_conf.max_step_cnt + 1; /* by flags only */
	msg->step_id.step_het_comp = NO_VAL;
	msg->flags = flags;
	msg->signal = SIGKILL;
	request->msg_args = msg;
	set_agent_arg_r_uid(request, SLURM_AUTH_UID_ANY);
	return request;
}

static void _kill_stubborn(job_record_t *job_ptr, follow_t *follow)
{
	if (!job_ptr->node_bitmap_cg ||
	    (bit_ffs(job_ptr->node_bitmap_cg) < 0) || LOTS_OF_AGENTS)
		return;
	clock_gettime(CLOCK_MONOTONIC, &follow->killed);
	info("job_submit/acrf: killing %pJ, which is still ending on a node that ACRF drained",
	     job_ptr);
	agent_queue_request(_kill_request(job_ptr, KILL_STEPS_ONLY));
	agent_queue_request(_kill_request(job_ptr, KILL_FULL_JOB));
}

/* A begin time that can't be taken for batch_requeue_fini()'s */
static void _set_begin_time(job_record_t *job_ptr, time_t now, int wait_s)
{
	job_ptr->details->begin_time = now + wait_s;
	while (_is_held_by_requeue(job_ptr))
		job_ptr->details->begin_time++;
}

static bool _release(job_record_t *job_ptr, follow_t *follow, time_t now)
{
	if ((now <= job_ptr->details->submit_time) ||
	    (seconds_since(&follow->killed) < RELEASE_AFTER_KILL_S))
		return false;
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

/*
 * Why the job was requeued, as far as its record and its nodes tell. A program
 * that failed and was requeued without ACRF was so by a person or by
 * RequeueExit, whose business it is. Slurm leaves no trace of a preemption:
 * where jobs are requeued for it, it is the explanation for what has no other.
 */
static acrf_cause_t _cause(job_record_t *job_ptr, bitstr_t *nodes)
{
	if (_find_node(nodes, _drained_by_acrf))
		return ACRF_HARDWARE;
	if (_find_node(nodes, _is_down))
		return ACRF_NODE;
	if (job_ptr->exit_code)
		return ACRF_OTHER;
	if (job_ptr->preempt_time ||
	    (slurm_conf.preempt_mode & PREEMPT_MODE_REQUEUE))
		return ACRF_PREEMPTION;
	return ACRF_OTHER;
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
		  bitstr_t *nodes, acrf_cause_t cause, int status)
{
	node_record_t *node_ptr = _find_node(nodes, NULL);
	acrf_requeue_t requeue;
	int wait_s = 0;

	if (acrf_requeue_count(site, job_ptr->admin_comment,
			       job_ptr->restart_cnt, cause, status,
			       node_ptr ? node_ptr->name : NULL,
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
	       job_ptr->node_bitmap && (job_ptr->exit_code != NO_VAL) &&
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

static follow_result_t _retry(job_record_t *job_ptr, follow_t *follow,
			      const acrf_site_t *site)
{
	time_t now = time(NULL);
	int status = _exit_status(job_ptr), wait_s;

	/* Seen: when its end was complete, and the last revocation sent */
	if ((now - job_ptr->end_time < VERDICT_WAIT_S) ||
	    (seconds_since(&follow->seen) < RELEASE_AFTER_KILL_S))
		return FOLLOW_ON;
	if (_on_node_drained_by_acrf(job_ptr))
		return FOLLOW_LEFT;	/* acrf-healthd's case */
	FREE_NULL_BITMAP(follow->nodes);
	follow->nodes = bit_copy(job_ptr->node_bitmap);
	if (job_requeue(slurm_conf.slurm_user_id, job_ptr->job_id, NULL, false,
			0) || !IS_JOB_PENDING(job_ptr))
		return FOLLOW_LEFT;
	info("job_submit/acrf: requeued %pJ, which had ended with status %d",
	     job_ptr, status);
	wait_s = _count(job_ptr, site, follow->nodes, ACRF_APPLICATION, status);
	_set_begin_time(job_ptr, now, wait_s);
	last_job_update = now;
	return FOLLOW_RELEASED;
}

extern bool follow_wants(job_record_t *job_ptr, const acrf_site_t *site)
{
	if (IS_JOB_FINISHED(job_ptr))
		return _may_be_retried(job_ptr, site);
	return _is_coming_back(job_ptr) &&
	       (IS_JOB_COMPLETING(job_ptr) || _is_held_by_requeue(job_ptr));
}

extern follow_t *follow_create(job_record_t *job_ptr, bitstr_t *nodes)
{
	follow_t *follow = xmalloc(sizeof(*follow));

	follow->job_id = job_ptr->job_id;
	follow->restart_cnt = job_ptr->restart_cnt;
	if (nodes)
		follow->nodes = bit_copy(nodes);
	clock_gettime(CLOCK_MONOTONIC, &follow->seen);
	return follow;
}

extern void follow_free(void *x)
{
	follow_t *follow = x;

	FREE_NULL_BITMAP(follow->nodes);
	xfree(follow);
}

extern follow_result_t follow_step(follow_t *follow, const acrf_site_t *site)
{
	job_record_t *job_ptr = find_job_record(follow->job_id);

	if (!job_ptr || !follow_wants(job_ptr, site) ||
	    (job_ptr->restart_cnt != follow->restart_cnt))
		return FOLLOW_LEFT;
	if (IS_JOB_FINISHED(job_ptr))
		return _retry(job_ptr, follow, site);
	if (!follow->counted) {
		bitstr_t *nodes = job_ptr->node_bitmap ? job_ptr->node_bitmap :
							 follow->nodes;

		follow->wait_s = _count(job_ptr, site, nodes,
					_cause(job_ptr, nodes), 0);
		follow->counted = true;
	}
	if (!IS_JOB_COMPLETING(job_ptr))
		return _release(job_ptr, follow, time(NULL)) ?
			FOLLOW_RELEASED : FOLLOW_ON;
	if (!follow->killed.tv_sec &&
	    (seconds_since(&follow->seen) >= acrf_site_kill_wait_s(site)) &&
	    _on_node_drained_by_acrf(job_ptr))
		_kill_stubborn(job_ptr, follow);
	return FOLLOW_ON;
}
