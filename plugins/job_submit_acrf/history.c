/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/job_submit_acrf/history.h"

#include <pthread.h>
#include <stdio.h>

#define LOOK_INTERVAL_S 60
#define WRITE_INTERVAL_S 600
#define SECONDS_PER_DAY 86400.0

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double failures, node_days;
static bool loaded;

static char *directory;		/* a copy: Slurm's own may change under us */

/* The thread's own */
static bitstr_t *taken_out;	/* by ACRF, when last looked at */
static time_t looked, written;

static char *_path(const char *suffix)
{
	return xstrdup_printf("%s/acrf-history%s", directory, suffix);
}

extern void history_open(void)
{
	xfree(directory);
	directory = xstrdup(slurm_conf.state_save_location);
}

static void _read(void)
{
	char *path = _path("");
	FILE *file = fopen(path, "r");
	double f = 0, d = 0;

	if (file && (fscanf(file, "failures %lf node-days %lf", &f, &d) == 2) &&
	    (f >= 0) && (d >= 0)) {
		slurm_mutex_lock(&mutex);
		failures = f;
		node_days = d;
		slurm_mutex_unlock(&mutex);
	} else if (file) {
		error("job_submit/acrf: %s is damaged; the history of failures begins anew",
		      path);
	}
	if (file)
		fclose(file);
	xfree(path);
	loaded = true;
	written = time(NULL);
}

static void _write(void)
{
	char *path = _path(""), *draft = _path(".new");
	FILE *file = fopen(draft, "w");
	double f, d;
	bool good;

	history_get(&f, &d);
	good = file && (fprintf(file, "failures %.0f node-days %.3f\n", f, d) >
			0);
	if (file && fclose(file))
		good = false;
	/* What can't be written is no reason to disturb slurmctld */
	if (!good || rename(draft, path))
		debug("job_submit/acrf: %s: %m", path);
	xfree(path);
	xfree(draft);
	written = time(NULL);
}

extern void history_refresh(void)
{
	if (!directory)
		return;
	if (!loaded)
		_read();
	else if (looked && (time(NULL) - written >= WRITE_INTERVAL_S))
		_write();
}

extern bool history_is_due(void)
{
	return loaded && (time(NULL) - looked >= LOOK_INTERVAL_S);
}

static bool _has_gpus(node_record_t *node_ptr)
{
	return xstrstr(node_ptr->gres, "gpu") != NULL;
}

extern void history_look(void)
{
	time_t now = time(NULL);
	bool known = taken_out && (bit_size(taken_out) == node_record_count);
	int in_service = 0, failed = 0;
	node_record_t *node_ptr;

	if (!known) {
		FREE_NULL_BITMAP(taken_out);
		taken_out = bit_alloc(node_record_count);
	}
	for (int i = 0; (node_ptr = next_node(&i)); i++) {
		bool out = IS_NODE_DRAIN(node_ptr) &&
			   !xstrncmp(node_ptr->reason, "ACRF:", 5);

		if (out && known && !bit_test(taken_out, i))
			failed++;
		bit_clear(taken_out, i);
		if (out)
			bit_set(taken_out, i);
		else if (!IS_NODE_DOWN(node_ptr) && !IS_NODE_DRAIN(node_ptr) &&
			 _has_gpus(node_ptr))
			in_service++;
	}
	slurm_mutex_lock(&mutex);
	failures += failed;
	if (known && looked && (now > looked))
		node_days += in_service * ((now - looked) / SECONDS_PER_DAY);
	slurm_mutex_unlock(&mutex);
	looked = now;
}

extern void history_get(double *to_failures, double *to_node_days)
{
	slurm_mutex_lock(&mutex);
	*to_failures = failures;
	*to_node_days = node_days;
	slurm_mutex_unlock(&mutex);
}

extern void history_free(void)
{
	FREE_NULL_BITMAP(taken_out);
	loaded = false;
	looked = 0;
}
