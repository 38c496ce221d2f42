/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/job_submit_acrf/last_nodes.h"

typedef struct {
	uint32_t job_id;
	uint32_t restart_cnt;
	last_run_t run;
} entry_t;

typedef struct {
	entry_t *entries;
	int cnt, size;
} table_t;

struct last_nodes {
	table_t now;		/* by job id */
	table_t next;		/* while all jobs are looked at */
};

static void _free_table(table_t *table)
{
	for (int i = 0; i < table->cnt; i++)
		FREE_NULL_BITMAP(table->entries[i].run.nodes);
	xfree(table->entries);
	memset(table, 0, sizeof(*table));
}

static int _by_id(const void *a, const void *b)
{
	uint32_t left = ((const entry_t *) a)->job_id;
	uint32_t right = ((const entry_t *) b)->job_id;

	return (left > right) - (left < right);
}

static entry_t *_find(table_t *table, uint32_t job_id)
{
	entry_t key = { .job_id = job_id };

	if (!table->cnt)
		return NULL;
	return bsearch(&key, table->entries, table->cnt, sizeof(key), _by_id);
}

extern last_nodes_t *last_nodes_create(void)
{
	return xmalloc(sizeof(last_nodes_t));
}

extern void last_nodes_free(last_nodes_t *last)
{
	_free_table(&last->now);
	_free_table(&last->next);
	xfree(last);
}

extern void last_nodes_begin(last_nodes_t *last)
{
	_free_table(&last->next);
}

extern bool last_nodes_note(last_nodes_t *last, job_record_t *job_ptr)
{
	entry_t *old = _find(&last->now, job_ptr->job_id);
	bool runs = IS_JOB_RUNNING(job_ptr) || IS_JOB_SUSPENDED(job_ptr);
	entry_t entry = {
		.job_id = job_ptr->job_id,
		.restart_cnt = job_ptr->restart_cnt,
	};
	bool is_new = false;

	if (old && (!runs || (old->restart_cnt == job_ptr->restart_cnt))) {
		entry = *old;
		old->run.nodes = NULL;
	} else if (runs && job_ptr->node_bitmap && job_ptr->details) {
		entry.run.nodes = bit_copy(job_ptr->node_bitmap);
		entry.run.started = job_ptr->start_time;
		entry.run.submitted = job_ptr->details->submit_time;
		is_new = true;
	}
	if (!entry.run.nodes)
		return false;
	if (runs)
		entry.run.next_step_id = job_ptr->next_step_id;
	if (last->next.cnt == last->next.size) {
		last->next.size = MAX(64, last->next.size * 2);
		xrecalloc(last->next.entries, last->next.size, sizeof(entry));
	}
	last->next.entries[last->next.cnt++] = entry;
	return is_new;
}

extern void last_nodes_end(last_nodes_t *last)
{
	if (last->next.cnt)
		qsort(last->next.entries, last->next.cnt, sizeof(entry_t),
		      _by_id);
	_free_table(&last->now);
	last->now = last->next;
	memset(&last->next, 0, sizeof(last->next));
}

extern const last_run_t *last_nodes_of(last_nodes_t *last, uint32_t job_id)
{
	entry_t *entry = _find(&last->now, job_id);

	if (!entry || !entry->run.nodes ||
	    (bit_size(entry->run.nodes) != node_record_count))
		return NULL;
	return &entry->run;
}
