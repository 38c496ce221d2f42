/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/job_submit_acrf/site.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static acrf_site_t *current;
static char *slurm_conf_path;	/* copies: Slurm's own may change under us */
static char *kept_path;
static time_t read_after;	/* slurm.conf's last reading that was seen */
static time_t read_again;	/* at this time; 0: not before the next one */

/* RET NULL when what was stays in force */
static acrf_site_t *_read(const char *otherwise)
{
	char problem[1024] = "";
	acrf_site_t *site = acrf_site_load(slurm_conf_path, kept_path, problem,
					   sizeof(problem));

	if (!site)
		error("job_submit/acrf: %s; %s", problem, otherwise);
	else if (*problem)
		error("job_submit/acrf: %s", problem);
	return site;
}

extern int site_open(void)
{
	slurm_conf_path = xstrdup(slurm_conf.slurm_conf);
	kept_path = xstrdup_printf("%s/" ACRF_KEPT_CONF,
				   slurm_conf.state_save_location);
	read_after = slurm_conf.last_update;
	if (!(current = _read("using the defaults")))
		current = acrf_site_default();
	return current ? SLURM_SUCCESS : SLURM_ERROR;
}

extern void site_close(void)
{
	slurm_mutex_lock(&mutex);
	acrf_site_free(current);
	current = NULL;
	xfree(slurm_conf_path);
	xfree(kept_path);
	slurm_mutex_unlock(&mutex);
}

extern void site_refresh(void)
{
	time_t last_update = slurm_conf.last_update;
	acrf_site_t *site;

	if (last_update != read_after) {
		read_after = last_update;
		/* It has whole seconds, and there may be a second one in it */
		read_again = last_update + 2;
	} else if (read_again && (time(NULL) >= read_again)) {
		read_again = 0;
	} else {
		return;
	}
	if (!(site = _read("going on with the settings as they were")))
		return;
	slurm_mutex_lock(&mutex);
	if (current) {
		acrf_site_t *old = current;

		current = site;
		site = old;
	}
	slurm_mutex_unlock(&mutex);
	acrf_site_free(site);
}

extern const acrf_site_t *site_lock(void)
{
	slurm_mutex_lock(&mutex);
	return current;
}

extern void site_unlock(void)
{
	slurm_mutex_unlock(&mutex);
}
