/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/job_submit_acrf/losses.h"

#include <signal.h>

#include "plugins/job_submit_acrf/drained.h"
#include "plugins/job_submit_acrf/send_signal.h"
#include "plugins/policy_token.h"

#define FAILOVER_TOKEN "acrf:policy=failover"

static bool _is_failover(job_record_t *job_ptr)
{
	return IS_JOB_RUNNING(job_ptr) && job_ptr->batch_flag &&
	       !xstrncmp(policy_token(job_ptr), FAILOVER_TOKEN,
			 strlen(FAILOVER_TOKEN));
}

/* RET the host list, to be freed; NULL: none */
static char *_lost_nodes(job_record_t *job_ptr)
{
	bitstr_t *nodes = job_ptr->node_bitmap, *lost;
	char *names = NULL;

	if (!nodes || (bit_size(nodes) != node_record_count))
		return NULL;
	lost = bit_alloc(node_record_count);
	for (bitoff_t i = bit_ffs(nodes), last = bit_fls(nodes);
	     (i >= 0) && (i <= last); i++)
		if (bit_test(nodes, i) && node_record_table_ptr[i] &&
		    drained_by_acrf(node_record_table_ptr[i]))
			bit_set(lost, i);
	if (bit_ffs(lost) >= 0)
		names = bitmap2node_name(lost);
	FREE_NULL_BITMAP(lost);
	return names;
}

/* The word in a comment, without its prefix; NULL: none */
static const char *_find_word(const char *comment, size_t *length)
{
	for (const char *at = comment; at && *at; at++) {
		if (!xstrncmp(at, ACRF_LOST_WORD, strlen(ACRF_LOST_WORD))) {
			at += strlen(ACRF_LOST_WORD);
			*length = strcspn(at, " ");
			return at;
		}
		if (!(at = strchr(at, ' ')))
			break;
	}
	return NULL;
}

static bool _says(const char *comment, const char *lost)
{
	size_t length = 0;
	const char *word = _find_word(comment, &length);

	if (!word || !lost)
		return !word && !lost;
	return (strlen(lost) == length) && !strncmp(word, lost, length);
}

extern bool losses_changed(job_record_t *job_ptr)
{
	char *lost;
	bool changed;

	if (!_is_failover(job_ptr))
		return false;
	lost = _lost_nodes(job_ptr);
	changed = !_says(job_ptr->admin_comment, lost);
	xfree(lost);
	return changed;
}

/* SIGURG is ignored by whoever does not ask for it, and harmless when late */
static void _wake_launcher(job_record_t *job_ptr)
{
	node_record_t *node_ptr = job_ptr->batch_host ?
				  find_node_record(job_ptr->batch_host) : NULL;
	bitstr_t *host;

	if (!node_ptr || LOTS_OF_AGENTS)
		return;		/* it looks by itself now and then */
	host = bit_alloc(node_record_count);
	bit_set(host, node_ptr->index);
	send_signal(job_ptr, host, KILL_FULL_JOB, SIGURG);
	FREE_NULL_BITMAP(host);
}

extern void losses_write(job_record_t *job_ptr)
{
	char *lost, *kept = NULL, *words, *save = NULL;

	if (!losses_changed(job_ptr))
		return;
	lost = _lost_nodes(job_ptr);
	words = xstrdup(job_ptr->admin_comment);
	for (char *word = words ? strtok_r(words, " ", &save) : NULL; word;
	     word = strtok_r(NULL, " ", &save))
		if (xstrncmp(word, ACRF_LOST_WORD, strlen(ACRF_LOST_WORD)))
			xstrfmtcat(kept, "%s%s", kept ? " " : "", word);
	if (lost)
		xstrfmtcat(kept, "%s%s%s", kept ? " " : "", ACRF_LOST_WORD,
			   lost);
	xfree(words);
	xfree(job_ptr->admin_comment);
	job_ptr->admin_comment = kept;
	last_job_update = time(NULL);
	info("job_submit/acrf: lost nodes of %pJ: %s", job_ptr,
	     lost ? lost : "none any more");
	if (lost)
		_wake_launcher(job_ptr);
	xfree(lost);
}
