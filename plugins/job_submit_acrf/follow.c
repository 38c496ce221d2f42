/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/job_submit_acrf/follow.h"

#define ACRF_REASON "ACRF: "
#define RELEASE_AFTER_KILL_S 2

extern double seconds_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - then->tv_sec) +
	       (now.tv_nsec - then->tv_nsec) / 1e9;
}

static bool _is_acrf_requeue(job_record_t *job_ptr)
{
	for (uint32_t i = 0; i < job_ptr->spank_job_env_size; i++)
		if (!xstrncmp(job_ptr->spank_job_env[i], ACRF_REQUEUE_TOKEN,
			      strlen(ACRF_REQUEUE_TOKEN)))
			return true;
	return false;
}

/* PENDING after a requeue, whether its last run has ended or not */
static bool _is_coming_back(job_record_t *job_ptr)
{
	return IS_JOB_PENDING(job_ptr) && job_ptr->restart_cnt &&
	       job_ptr->details && _is_acrf_requeue(job_ptr);
}

static bool _is_held_by_requeue(job_record_t *job_ptr)
{
	time_t held = job_ptr->details->begin_time -
		      job_ptr->details->submit_time;
	int lifetime = acrf_cred_lifetime();

	/* batch_requeue_fini() may move the submit time by a second */
	return (held == lifetime) || (held == lifetime + 1);
}

static bool _on_node_drained_by_acrf(job_record_t *job_ptr)
{
	bitstr_t *nodes = job_ptr->node_bitmap;

	if (!nodes)
		return false;
	for (bitoff_t i = bit_ffs(nodes), last = bit_fls(nodes);
	     (i >= 0) && (i <= last); i++) {
		node_record_t *node_ptr = node_record_table_ptr[i];

		if (bit_test(nodes, i) && node_ptr &&
		    IS_NODE_DRAIN(node_ptr) &&
		    !xstrncmp(node_ptr->reason, ACRF_REASON,
			      strlen(ACRF_REASON)))
			return true;
	}
	return false;
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

static bool _release(job_record_t *job_ptr, follow_t *follow, time_t now)
{
	if ((now <= job_ptr->details->submit_time) ||
	    (seconds_since(&follow->killed) < RELEASE_AFTER_KILL_S))
		return false;
	job_ptr->details->begin_time = now;
	if (job_ptr->state_reason == WAIT_TIME) {
		job_ptr->state_reason = WAIT_NO_REASON;
		xfree(job_ptr->state_desc);
	}
	last_job_update = now;
	info("job_submit/acrf: released %pJ, restart %u", job_ptr,
	     job_ptr->restart_cnt);
	return true;
}

extern bool follow_wants(job_record_t *job_ptr)
{
	return _is_coming_back(job_ptr) &&
	       (IS_JOB_COMPLETING(job_ptr) || _is_held_by_requeue(job_ptr));
}

extern follow_t *follow_create(job_record_t *job_ptr)
{
	follow_t *follow = xmalloc(sizeof(*follow));

	follow->job_id = job_ptr->job_id;
	follow->restart_cnt = job_ptr->restart_cnt;
	clock_gettime(CLOCK_MONOTONIC, &follow->seen);
	return follow;
}

extern follow_result_t follow_step(follow_t *follow, int kill_wait_s)
{
	job_record_t *job_ptr = find_job_record(follow->job_id);

	if (!job_ptr || !follow_wants(job_ptr) ||
	    (job_ptr->restart_cnt != follow->restart_cnt))
		return FOLLOW_LEFT;
	if (!IS_JOB_COMPLETING(job_ptr))
		return _release(job_ptr, follow, time(NULL)) ?
			FOLLOW_RELEASED : FOLLOW_ON;
	if (!follow->killed.tv_sec &&
	    (seconds_since(&follow->seen) >= kill_wait_s) &&
	    _on_node_drained_by_acrf(job_ptr))
		_kill_stubborn(job_ptr, follow);
	return FOLLOW_ON;
}
