/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/job_submit_acrf/suspects.h"

#include <stdlib.h>

#include "plugins/bridge/suspect_bridge.h"

#define PROGRESS_WORD "acrf-progress:"
#define ACCUSED_FIELD "accused="

static bool _accuses(job_record_t *job_ptr, const acrf_site_t *site,
		     acrf_accusation_t *accusation)
{
	return IS_JOB_RUNNING(job_ptr) && job_ptr->node_bitmap &&
	       acrf_site_suspect_time_s(site) &&
	       xstrstr(job_ptr->comment, PROGRESS_WORD) &&
	       (acrf_accusation(job_ptr->comment, job_ptr->admin_comment,
				job_ptr->node_cnt, time(NULL),
				acrf_site_suspect_time_s(site),
				accusation) > 0);
}

extern bool suspects_named(job_record_t *job_ptr, const acrf_site_t *site)
{
	acrf_accusation_t accusation;

	if (!_accuses(job_ptr, site, &accusation))
		return false;
	acrf_accusation_free(&accusation);
	return true;
}

static int _accused_by(uint32_t uid)
{
	int cnt = 0;

	for (int i = 0; i < node_record_count; i++)
		cnt += node_record_table_ptr[i] &&
		       xstrstr(node_record_table_ptr[i]->comment,
			       ACCUSED_FIELD) &&
		       acrf_is_accused_by(node_record_table_ptr[i]->comment,
					  uid);
	return cnt;
}

/* `comment` becomes the node's, from malloc() */
static void _set_comment(node_record_t *node_ptr, char *comment)
{
	xfree(node_ptr->comment);
	node_ptr->comment = *comment ? xstrdup(comment) : NULL;
	free(comment);
	last_node_update = time(NULL);
	schedule_node_save();
}

static void _accuse(job_record_t *job_ptr, const acrf_site_t *site,
		    const char *name, bool hangs)
{
	node_record_t *node_ptr = find_node_record_no_alias((char *) name);
	const char *what = hangs ? "stopped first in" : "holds up";
	char *comment;

	if (!node_ptr || !bit_test(job_ptr->node_bitmap, node_ptr->index))
		return;
	if (!acrf_site_enforces(site) ||
	    (_accused_by(job_ptr->user_id) >=
	     acrf_site_suspects_per_user(site))) {
		info("job_submit/acrf: node %s %s %pJ; not made a suspect: %s",
		     name, what, job_ptr,
		     acrf_site_enforces(site) ?
		     "SuspectsPerUser" : "Mode=observe");
		return;
	}
	if (!(comment = acrf_with_accused(node_ptr->comment, time(NULL) +
					  acrf_site_suspect_time_s(site),
					  hangs, job_ptr->user_id)))
		return;
	info("job_submit/acrf: node %s %s %pJ: a suspect for %d s", name,
	     what, job_ptr, acrf_site_suspect_time_s(site));
	_set_comment(node_ptr, comment);
}

extern void suspects_write(job_record_t *job_ptr, const acrf_site_t *site)
{
	acrf_accusation_t accusation;
	char *save = NULL;

	if (!_accuses(job_ptr, site, &accusation))
		return;
	if (bit_size(job_ptr->node_bitmap) == node_record_count)
		for (char *name = strtok_r(accusation.nodes, ",", &save); name;
		     name = strtok_r(NULL, ",", &save))
			_accuse(job_ptr, site, name, accusation.hangs);
	xfree(job_ptr->admin_comment);
	job_ptr->admin_comment = xstrdup(accusation.admin_comment);
	last_job_update = time(NULL);
	schedule_job_save();
	acrf_accusation_free(&accusation);
}

extern void suspects_expire(void)
{
	time_t now = time(NULL);

	for (int i = 0; i < node_record_count; i++) {
		node_record_t *node_ptr = node_record_table_ptr[i];
		char *comment;

		if (node_ptr && xstrstr(node_ptr->comment, ACCUSED_FIELD) &&
		    (comment = acrf_without_accused(node_ptr->comment, now)))
			_set_comment(node_ptr, comment);
	}
}
