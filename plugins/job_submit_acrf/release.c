/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that follows requeued jobs (see follow.h) and wakes the scheduler
 * when it has released one.
 *
 * Cost: one look at each job per RELEASE_SCAN_MS, and only after jobs or nodes
 * changed; the nodes of those that ACRF brings back are remembered, and jobs of
 * interest followed by id. When ACRF drains a node, which a look at the nodes
 * tells, jobs are about to be requeued or to lose a node: for some seconds all
 * are then looked at every RELEASE_FOLLOW_MS. Nothing under the locks but memory.
 */
#include "plugins/job_submit_acrf/release.h"

#include <errno.h>
#include <pthread.h>

#include "plugins/job_submit_acrf/drained.h"
#include "plugins/job_submit_acrf/follow.h"
#include "plugins/job_submit_acrf/history.h"
#include "plugins/job_submit_acrf/last_nodes.h"
#include "plugins/job_submit_acrf/losses.h"
#include "plugins/job_submit_acrf/site.h"
#include "plugins/job_submit_acrf/suspects.h"

#define RELEASE_SCAN_MS 500
#define RELEASE_FOLLOW_MS 100
#define RELEASE_ALERT_S 3	/* after a drain */
#define RELEASE_LONG_S 10	/* after this time follow at leisure, */
#define RELEASE_LONG_MS 1000	/* a process may be stuck in a driver */

/* One thread's own state; the last of plugin and thread to leave frees it */
typedef struct {
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	bool stop;
	bool ended;
	bool abandoned;		/* the plugin no longer waits for the thread */
	bool in_lock;		/* between lock_slurmctld() and unlock */
	bool had_control;	/* of the cluster, the thread's alone, */
	List followed;		/* as are these: of follow_t */
	last_nodes_t *last_nodes;
	struct timespec last_followed; /* when the newest was added */
	pace_t pace;
	time_t scanned_update;	/* last_job_update at the last scan */
	time_t drains_update;	/* last_node_update at the last look for drains */
	int drained;		/* nodes that ACRF had drained then */
	struct timespec alert;	/* when there were more of them than before */
	time_t conf_update;	/* slurm.conf's, then */
} release_t;

static pthread_mutex_t current_mutex = PTHREAD_MUTEX_INITIALIZER;
static release_t *current;

static int _find_followed(void *x, void *key)
{
	return ((follow_t *) x)->job_id == *(uint32_t *) key;
}

typedef struct {
	release_t *release;
	const acrf_site_t *site;
	uint32_t *telling;	/* ids of jobs about whose nodes there is news */
	int telling_cnt;
	bool started;		/* a run not seen before */
} scan_t;

static int _consider(void *x, void *arg)
{
	job_record_t *job_ptr = x;
	scan_t *scan = arg;
	release_t *release = scan->release;
	const last_run_t *last;
	follow_t *follow = NULL;

	if (!follow_is_ours(job_ptr))
		return 0;
	last = last_nodes_of(release->last_nodes, job_ptr->job_id);
	if (follow_wants(job_ptr, scan->site) &&
	    !list_find_first(release->followed, _find_followed,
			     &job_ptr->job_id))
		follow = follow_create(job_ptr, last);
	/* `last` goes */
	scan->started |= last_nodes_note(release->last_nodes, job_ptr);
	if (losses_changed(job_ptr) || suspects_named(job_ptr, scan->site)) {
		xrecalloc(scan->telling, scan->telling_cnt + 1,
			  sizeof(*scan->telling));
		scan->telling[scan->telling_cnt++] = job_ptr->job_id;
	}
	if (!follow)
		return 0;
	list_append(release->followed, follow);
	clock_gettime(CLOCK_MONOTONIC, &release->last_followed);
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
 * This slurmctld is the one that works. The first of the configured ones never
 * stands by again, but in 24.11 forgets its control_time when it could not
 * reconfigure and goes on.
 */
static bool _in_control(release_t *release)
{
	release->had_control |= (control_time != 0);
	return control_time || (slurmctld_primary && release->had_control);
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
	    _in_control(release) && job_list)
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

static void _write_news(release_t *release, scan_t *scan)
{
	slurmctld_lock_t locks = { .job = WRITE_LOCK, .node = WRITE_LOCK };
	const acrf_site_t *site;

	if (scan->telling_cnt && _lock(release, locks)) {
		site = site_lock();
		for (int i = 0; site && (i < scan->telling_cnt); i++) {
			job_record_t *job_ptr = find_job_record(scan->telling[i]);

			if (!job_ptr)
				continue;
			losses_write(job_ptr);
			suspects_write(job_ptr, site);
		}
		site_unlock();
		_unlock(release, locks);
	}
	xfree(scan->telling);
}

static void _scan(release_t *release)
{
	slurmctld_lock_t locks = { .job = READ_LOCK, .node = READ_LOCK };
	scan_t scan = { .release = release };

	/*
	 * These count seconds: a change later in the second of the last scan
	 * looks like none, so that second is scanned once more.
	 */
	if ((last_job_update < release->scanned_update) &&
	    (last_node_update < release->scanned_update))
		return;
	if (!_lock(release, locks))
		return;
	release->scanned_update = time(NULL);
	if (release->conf_update != slurm_conf.last_update) {
		last_nodes_begin(release->last_nodes);	/* nodes have new */
		last_nodes_end(release->last_nodes);	/* numbers perhaps */
		release->conf_update = slurm_conf.last_update;
	}
	last_nodes_begin(release->last_nodes);
	if ((scan.site = site_lock()))
		list_for_each(job_list, _consider, &scan);
	site_unlock();
	last_nodes_end(release->last_nodes);
	_unlock(release, locks);
	/* Backfill does not: a slurmctld that is killed would have forgotten it */
	if (scan.started)
		schedule_job_save();
	_write_news(release, &scan);
}

/* As in _scan(), the second of the last look is looked at once more */
static void _look_for_drains(release_t *release)
{
	slurmctld_lock_t locks = { .node = READ_LOCK };
	int drained = 0;

	if ((last_node_update < release->drains_update) ||
	    !_lock(release, locks))
		return;
	release->drains_update = time(NULL);
	for (int i = 0; i < node_record_count; i++)
		drained += node_record_table_ptr[i] &&
			   drained_by_acrf(node_record_table_ptr[i]);
	if (drained > release->drained)
		clock_gettime(CLOCK_MONOTONIC, &release->alert);
	release->drained = drained;
	_unlock(release, locks);
}

static int _scan_ms(release_t *release)
{
	return (seconds_since(&release->alert) < RELEASE_ALERT_S) ?
		RELEASE_FOLLOW_MS : RELEASE_SCAN_MS;
}

static void _look_at_nodes(release_t *release)
{
	slurmctld_lock_t locks = { .node = WRITE_LOCK };

	if (!_lock(release, locks))
		return;
	history_look();
	suspects_expire();
	_unlock(release, locks);
}

typedef struct {
	const acrf_site_t *site;
	pace_t *pace;
	bool released;
} step_t;

/* RET 1 when the job need not be followed further */
static int _step(void *x, void *arg)
{
	step_t *step = arg;
	follow_result_t result = follow_step(x, step->site, step->pace);

	step->released |= (result == FOLLOW_RELEASED);
	return result != FOLLOW_ON;
}

static void _step_all(release_t *release)
{
	slurmctld_lock_t locks = { .conf = READ_LOCK, .job = WRITE_LOCK,
				   .node = WRITE_LOCK, .fed = READ_LOCK };
	step_t step = { .pace = &release->pace };

	if (!_lock(release, locks))
		return;
	if ((step.site = site_lock()))
		list_delete_all(release->followed, _step, &step);
	site_unlock();
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

/* Is it time to look at the followed jobs? */
static bool _steps_are_due(release_t *release, const struct timespec *stepped)
{
	if (!list_count(release->followed))
		return false;
	return (seconds_since(&release->last_followed) < RELEASE_LONG_S) ||
	       (seconds_since(stepped) * 1000 >= RELEASE_LONG_MS);
}

static void _free(release_t *release)
{
	FREE_NULL_LIST(release->followed);
	last_nodes_free(release->last_nodes);
	slurm_cond_destroy(&release->wake);
	slurm_mutex_destroy(&release->mutex);
	xfree(release);
}

static void *_run(void *arg)
{
	release_t *release = arg;
	struct timespec scanned = { 0 }, stepped = { 0 };
	bool abandoned;

	while (!_stopping(release)) {
		site_refresh();
		if (_in_control(release)) /* a backup's day will come */
			history_refresh();
		if (history_is_due())
			_look_at_nodes(release);
		_look_for_drains(release);
		if (seconds_since(&scanned) * 1000 >= _scan_ms(release)) {
			_scan(release);
			clock_gettime(CLOCK_MONOTONIC, &scanned);
		}
		if (_steps_are_due(release, &stepped)) {
			_step_all(release);
			clock_gettime(CLOCK_MONOTONIC, &stepped);
		}
		_sleep(release, RELEASE_FOLLOW_MS);
	}

	slurm_mutex_lock(&release->mutex);
	abandoned = release->abandoned;
	if (!abandoned)		/* else its successor's by now */
		history_free();
	release->ended = true;
	slurm_cond_broadcast(&release->wake);
	slurm_mutex_unlock(&release->mutex);
	if (abandoned)
		_free(release);
	return NULL;
}

extern int release_thread_start(void)
{
	release_t *release = xmalloc(sizeof(*release));
	pthread_attr_t attr;
	pthread_t thread;
	int rc;

	slurm_mutex_init(&release->mutex);
	slurm_cond_init(&release->wake, NULL);
	release->followed = list_create(follow_free);
	release->last_nodes = last_nodes_create();
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
