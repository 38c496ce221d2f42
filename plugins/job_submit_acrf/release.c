/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm holds a requeued job back for the lifetime of its old credential
 * (batch_requeue_fini(): begin_time = now + cred_expire + 1, 121 s by default)
 * because a slurmd refuses any credential that is not younger, in whole
 * seconds, than the revocation of the old one. The last revocation of a job
 * is sent before the job stops COMPLETING, and batch_requeue_fini() then notes
 * that second as the submit time. So one second later, by slurmctld's own
 * clock, every slurmd accepts the job again: that is when this thread takes
 * the delay away and asks for a scheduling pass.
 *
 * A begin time that is not the one batch_requeue_fini() computes belongs to a
 * user or an admin and is left alone. All that the decision needs is in the
 * job's own record, so a restarted slurmctld goes on where it was.
 *
 * The second duty: a job that ignores SIGTERM would stay COMPLETING for
 * KillWait. On a node that ACRF drained there is nothing left to wait for, so
 * its processes are killed RequeueKillWait seconds after the requeue.
 *
 * Cost: one look at each job's state word per RELEASE_SCAN_MS, and only after
 * jobs changed; jobs of interest are then followed by id. Nothing under the
 * locks but memory.
 */
#include "plugins/job_submit_acrf/release.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#define RELEASE_SCAN_MS 500
#define RELEASE_FOLLOW_MS 100
#define RELEASE_LONG_S 10	/* after this time follow at leisure, */
#define RELEASE_LONG_MS 1000	/* a process may be stuck in a driver */
#define RELEASE_AFTER_KILL_S 2
#define ACRF_REASON "ACRF: "

typedef struct {
	uint32_t job_id;
	uint32_t restart_cnt;
	struct timespec seen;	/* when this restart was first seen */
	struct timespec killed;	/* 0: it was not */
} follow_t;

/* One thread's own state; the last of plugin and thread to leave frees it */
typedef struct {
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	bool stop;
	bool ended;
	bool abandoned;		/* the plugin no longer waits for the thread */
	bool in_lock;		/* between lock_slurmctld() and unlock */
	int kill_wait_s;
	List followed;		/* of follow_t, the thread's alone */
	struct timespec last_followed; /* when the newest was added */
	time_t scanned_update;	/* last_job_update at the last scan */
} release_t;

static pthread_mutex_t current_mutex = PTHREAD_MUTEX_INITIALIZER;
static release_t *current;

static double _seconds_since(const struct timespec *then)
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

static int _find_followed(void *x, void *key)
{
	return ((follow_t *) x)->job_id == *(uint32_t *) key;
}

static int _consider(void *x, void *arg)
{
	job_record_t *job_ptr = x;
	release_t *release = arg;
	follow_t *follow;

	if (!_is_coming_back(job_ptr))
		return 0;
	if (!IS_JOB_COMPLETING(job_ptr) && !_is_held_by_requeue(job_ptr))
		return 0;
	if (list_find_first(release->followed, _find_followed,
			    &job_ptr->job_id))
		return 0;
	follow = xmalloc(sizeof(*follow));
	follow->job_id = job_ptr->job_id;
	follow->restart_cnt = job_ptr->restart_cnt;
	clock_gettime(CLOCK_MONOTONIC, &follow->seen);
	release->last_followed = follow->seen;
	list_append(release->followed, follow);
	return 0;
}

static void _set_in_lock(release_t *release, bool in_lock)
{
	slurm_mutex_lock(&release->mutex);
	release->in_lock = in_lock;
	slurm_cond_broadcast(&release->wake);	/* for release_thread_stop() */
	slurm_mutex_unlock(&release->mutex);
}

static bool _stopping(release_t *release)
{
	bool stop;

	slurm_mutex_lock(&release->mutex);
	stop = release->stop;
	slurm_mutex_unlock(&release->mutex);
	return stop;
}

/*
 * Take slurmctld's locks. RET false, with no lock held, when this slurmctld is
 * not the one in control or the thread is to end.
 */
static bool _lock(release_t *release, slurmctld_lock_t locks)
{
	_set_in_lock(release, true);
	lock_slurmctld(locks);
	if (!_stopping(release) && !slurmctld_config.shutdown_time &&
	    control_time && job_list)
		return true;
	unlock_slurmctld(locks);
	_set_in_lock(release, false);
	return false;
}

static void _unlock(release_t *release, slurmctld_lock_t locks)
{
	unlock_slurmctld(locks);
	_set_in_lock(release, false);
}

static void _scan(release_t *release)
{
	slurmctld_lock_t locks = { .job = READ_LOCK };

	/*
	 * last_job_update counts seconds: a change later in the second of the
	 * last scan looks like none, so that second is scanned once more.
	 */
	if (last_job_update < release->scanned_update)
		return;
	if (!_lock(release, locks))
		return;
	release->scanned_update = time(NULL);
	list_for_each(job_list, _consider, release);
	_unlock(release, locks);
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
	    (_seconds_since(&follow->killed) < RELEASE_AFTER_KILL_S))
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

typedef struct {
	release_t *release;
	bool released;
} step_t;

/* One look at one followed job. RET 1 when it need not be followed further */
static int _step(void *x, void *arg)
{
	follow_t *follow = x;
	step_t *step = arg;
	job_record_t *job_ptr = find_job_record(follow->job_id);

	if (!job_ptr || !_is_coming_back(job_ptr) ||
	    (job_ptr->restart_cnt != follow->restart_cnt))
		return 1;
	if (!IS_JOB_COMPLETING(job_ptr)) {
		if (!_is_held_by_requeue(job_ptr))
			return 1;
		if (!_release(job_ptr, follow, time(NULL)))
			return 0;
		step->released = true;
		return 1;
	}
	if (!follow->killed.tv_sec &&
	    (_seconds_since(&follow->seen) >= step->release->kill_wait_s) &&
	    _on_node_drained_by_acrf(job_ptr))
		_kill_stubborn(job_ptr, follow);
	return 0;
}

static void _step_all(release_t *release)
{
	slurmctld_lock_t locks = { .conf = READ_LOCK, .job = WRITE_LOCK,
				   .node = READ_LOCK };
	step_t step = { .release = release };

	if (!_lock(release, locks))
		return;
	list_delete_all(release->followed, _step, &step);
	_unlock(release, locks);
	if (step.released) {
		schedule_job_save();
		schedule(false);	/* only wakes the scheduler's thread */
	}
}

static void _sleep(release_t *release, int ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (ms % 1000) * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	slurm_mutex_lock(&release->mutex);
	if (!release->stop)
		pthread_cond_timedwait(&release->wake, &release->mutex,
				       &until);
	slurm_mutex_unlock(&release->mutex);
}

static int _pause_ms(release_t *release)
{
	if (!list_count(release->followed))
		return RELEASE_SCAN_MS;
	return (_seconds_since(&release->last_followed) < RELEASE_LONG_S) ?
		RELEASE_FOLLOW_MS : RELEASE_LONG_MS;
}

static void _free(release_t *release)
{
	FREE_NULL_LIST(release->followed);
	slurm_cond_destroy(&release->wake);
	slurm_mutex_destroy(&release->mutex);
	xfree(release);
}

static void *_run(void *arg)
{
	release_t *release = arg;
	struct timespec scanned = { 0 };
	bool abandoned;

	while (!_stopping(release)) {
		if (_seconds_since(&scanned) * 1000 >= RELEASE_SCAN_MS) {
			_scan(release);
			clock_gettime(CLOCK_MONOTONIC, &scanned);
		}
		if (list_count(release->followed))
			_step_all(release);
		_sleep(release, _pause_ms(release));
	}

	slurm_mutex_lock(&release->mutex);
	release->ended = true;
	abandoned = release->abandoned;
	slurm_cond_broadcast(&release->wake);
	slurm_mutex_unlock(&release->mutex);
	if (abandoned)
		_free(release);
	return NULL;
}

extern int release_thread_start(int kill_wait_s)
{
	release_t *release = xmalloc(sizeof(*release));
	pthread_attr_t attr;
	pthread_t thread;
	int rc;

	slurm_mutex_init(&release->mutex);
	slurm_cond_init(&release->wake, NULL);
	release->kill_wait_s = kill_wait_s;
	release->followed = list_create(xfree_ptr);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&thread, &attr, _run, release);
	pthread_attr_destroy(&attr);
	if (rc) {
		errno = rc;
		error("job_submit/acrf: pthread_create: %m; requeued jobs will wait for Slurm's own delay");
		_free(release);
		return SLURM_ERROR;
	}
	slurm_mutex_lock(&current_mutex);
	current = release;
	slurm_mutex_unlock(&current_mutex);
	return SLURM_SUCCESS;
}

extern void release_thread_stop(void)
{
	release_t *release;
	bool ended;

	slurm_mutex_lock(&current_mutex);
	release = current;
	current = NULL;
	slurm_mutex_unlock(&current_mutex);
	if (!release)
		return;

	slurm_mutex_lock(&release->mutex);
	release->stop = true;
	slurm_cond_broadcast(&release->wake);
	while (!release->ended && !release->in_lock)
		slurm_cond_wait(&release->wake, &release->mutex);
	ended = release->ended;
	release->abandoned = !ended;
	slurm_mutex_unlock(&release->mutex);
	if (ended)
		_free(release);
}
