/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/select_acrf/decisions.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#define RING_SIZE 4096
#define WRITE_INTERVAL_S 1

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static bool running, stop;
static char *path;
static decision_t *ring;	/* allocated while running */
static uint64_t added, written;	/* counts since the start */

extern void decisions_add(const decision_t *decision)
{
	slurm_mutex_lock(&mutex);
	if (ring && (added - written < RING_SIZE))
		ring[added++ % RING_SIZE] = *decision;
	slurm_mutex_unlock(&mutex);
}

static const char *_mode_name(uint16_t mode)
{
	if (mode == SELECT_MODE_TEST_ONLY)
		return "test_only";
	return (mode == SELECT_MODE_WILL_RUN) ? "will_run" : "run_now";
}

static void _append_json(char **text, char **end, const decision_t *d)
{
	xstrfmtcatat(*text, end,
		     "{\"time\":%.3f,\"job\":%u,\"mode\":\"%s\",\"outcome\":\"%s\",\"ok\":%s,\"candidates\":%d,\"nodes\":%d,\"gpus\":%d,\"shape\":\"%s\",\"cost\":%"PRId64",\"runner_up\":%"PRId64",\"leaves\":%d,\"pods\":%d,\"avoidable\":%d,\"certified\":%s,\"total_us\":%.1f,\"plan_us\":%.1f,\"delegate_us\":%.1f,\"refused_us\":%.1f,\"placed\":\"%s\"}\n",
		     d->time.tv_sec + (d->time.tv_nsec / 1e9), d->job_id,
		     _mode_name(d->mode), d->outcome, d->ok ? "true" : "false",
		     d->candidates, d->nodes, d->gpus, d->shape, d->cost,
		     d->runner_up, d->leaves, d->pods, d->avoidable,
		     d->certified ? "true" : "false", d->total_us, d->plan_us,
		     d->delegate_us, d->refused_us, d->summary);
}

/* The new decisions as text; xfree() it. NULL: none */
static char *_take_text(void)
{
	char *text = NULL, *end = NULL;
	decision_t *batch = NULL;
	uint64_t cnt;

	slurm_mutex_lock(&mutex);
	cnt = added - written;
	if (cnt)
		batch = xcalloc(cnt, sizeof(*batch));
	for (uint64_t i = 0; i < cnt; i++)
		batch[i] = ring[written++ % RING_SIZE];
	slurm_mutex_unlock(&mutex);

	for (uint64_t i = 0; i < cnt; i++)
		_append_json(&text, &end, &batch[i]);
	xfree(batch);
	return text;
}

static void _write_text(const char *text)
{
	struct stat st;
	size_t size = strlen(text);
	int fd;

	if (!stat(path, &st) && (st.st_size + size > DECISIONS_FILE_SIZE)) {
		char *old = xstrdup_printf("%s.old", path);

		(void) rename(path, old);
		xfree(old);
	}
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
	/* A log that can't be written is no reason to disturb slurmctld */
	if ((fd < 0) || (write(fd, text, size) < 0))
		debug("select/acrf: %s: %m", path);
	if (fd >= 0)
		(void) close(fd);
}

static void *_run(void *arg)
{
	bool last = false;

	while (!last) {
		struct timespec until;
		char *text;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += WRITE_INTERVAL_S;
		slurm_mutex_lock(&mutex);
		if (!stop)
			(void) pthread_cond_timedwait(&wake, &mutex, &until);
		last = stop;
		slurm_mutex_unlock(&mutex);
		if ((text = _take_text()))
			_write_text(text);
		xfree(text);
	}
	return NULL;
}

extern void decisions_start(void)
{
	if (running)
		return;
	path = xstrdup_printf("%s/acrf-decisions",
			      slurm_conf.state_save_location);
	ring = xcalloc(RING_SIZE, sizeof(decision_t));
	stop = false;
	if (!(running = !pthread_create(&thread, NULL, _run, NULL))) {
		error("select/acrf: no thread for the log of decisions");
		decisions_stop();
	}
}

extern void decisions_stop(void)
{
	if (running) {
		slurm_mutex_lock(&mutex);
		stop = true;
		slurm_cond_signal(&wake);
		slurm_mutex_unlock(&mutex);
		pthread_join(thread, NULL);
		running = false;
	}
	slurm_mutex_lock(&mutex);
	xfree(ring);
	added = written = 0;
	slurm_mutex_unlock(&mutex);
	xfree(path);
}
