/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/job_submit_acrf/cause.h"

#include "plugins/job_submit_acrf/drained.h"
#include "plugins/job_submit_acrf/failed_launch.h"

static bool _is_down(node_record_t *node_ptr)
{
	return IS_NODE_DOWN(node_ptr) || IS_NODE_NO_RESPOND(node_ptr);
}

/* slurmctld drains a node whose prolog fails */
static bool _is_drained(node_record_t *node_ptr)
{
	return IS_NODE_DRAIN(node_ptr);
}

extern node_record_t *find_node(bitstr_t *nodes,
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

/*
 * A program that failed and was requeued without ACRF was so by a person or by
 * RequeueExit, whose business it is. Slurm leaves no trace of a preemption:
 * where jobs are requeued for it, it is the explanation for what has no other.
 */
extern acrf_cause_t requeue_cause(job_record_t *job_ptr, bitstr_t *nodes)
{
	if (find_node(nodes, drained_by_acrf))
		return ACRF_HARDWARE;
	if (find_node(nodes, _is_down) || failed_launch_holds(job_ptr))
		return ACRF_NODE;
	if (job_ptr->exit_code)
		return ACRF_OTHER;
	if (job_ptr->preempt_time ||
	    (slurm_conf.preempt_mode & PREEMPT_MODE_REQUEUE))
		return ACRF_PREEMPTION;
	return ACRF_OTHER;
}

/* Which node could not launch a job, nobody says: its script's, most often */
static node_record_t *_failed_launcher(bitstr_t *nodes)
{
	node_record_t *node_ptr = find_node(nodes, _is_drained);

	return node_ptr ? node_ptr : find_node(nodes, NULL);
}

extern const char *requeue_blamed(job_record_t *job_ptr, bitstr_t *nodes,
				  acrf_cause_t cause)
{
	node_record_t *node_ptr =
		(cause == ACRF_HARDWARE) ? find_node(nodes, drained_by_acrf) :
		(cause == ACRF_NODE) ? find_node(nodes, _is_down) :
		(cause == ACRF_APPLICATION) ? find_node(nodes, NULL) : NULL;

	if (!node_ptr && (cause == ACRF_NODE) && failed_launch_holds(job_ptr))
		node_ptr = _failed_launcher(nodes);
	return node_ptr ? node_ptr->name : NULL;
}
