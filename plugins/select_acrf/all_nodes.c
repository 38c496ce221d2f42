/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/select_acrf/all_nodes.h"

#include "plugins/select_acrf/gpu_mask.h"
#include "plugins/select_acrf/judge.h"
#include "plugins/select_acrf/ledger.h"
#include "plugins/select_acrf/node_bits.h"

static bool _takes_gpus(job_record_t *job_ptr)
{
	return job_ptr->gres_list_req ||
	       (job_ptr->details && acrf_takes_whole_nodes(job_ptr));
}

/* Hide what is in quarantine, and leave out nodes that can't be judged yet */
static void _hide_flagged(const job_test_t *test, gpu_mask_t *mask)
{
	for_each_set_node(i, ledger_flagged()) {
		const acrf_node_t *node = ledger_node(i);
		gres_node_state_t *gres_ns;

		if (!bit_test(test->bitmap, i))
			continue;
		/* An exclusive job would get all GPUs of the node */
		if (node->unready || (node->quarantined &&
		    acrf_takes_whole_nodes(test->job_ptr)))
			bit_clear(test->bitmap, i);
		else if (node->quarantined &&
			 (gres_ns = gpus_of_node(node_record_table_ptr[i])) &&
			 gres_ns->gres_bit_alloc)
			gpu_mask_add(mask, gres_ns, node->quarantined);
	}
}

/* Nodes that the job should only get when nothing else fits; NULL: none */
static bitstr_t *_doubtful(const job_test_t *test, bitstr_t *avoided)
{
	bitstr_t *flagged = ledger_flagged(), *doubtful = NULL;

	if (avoided)
		doubtful = bit_copy(avoided);
	for_each_set_node(i, flagged) {
		const acrf_node_t *node = ledger_node(i);

		if (!(node->suspect ||
		      (node->probation && (test->req_nodes > 1))))
			continue;
		if (!doubtful)
			doubtful = bit_alloc(bit_size(flagged));
		bit_set(doubtful, i);
	}
	if (doubtful && test->job_ptr->details->req_node_bitmap)
		bit_and_not(doubtful, test->job_ptr->details->req_node_bitmap);
	return doubtful;
}

/* A GPU of the node is in quarantine and a job still has it */
static bool _holds_quarantined(int i)
{
	const acrf_node_t *node = ledger_node(i);

	return bit_test(ledger_flagged(), i) &&
	       (node->quarantined & node->gpus & ~node->free);
}

static bool _job_is_in_the_way(job_record_t *job_ptr)
{
	if (job_ptr->node_bitmap)
		for_each_set_node(i, job_ptr->node_bitmap)
			if (_holds_quarantined(i))
				return true;
	return false;
}

/*
 * Whom the job may preempt. cons_tres simulates the end of those jobs, and a
 * GPU in quarantine would then look free: they would be ended in vain. So jobs
 * on a node with such a GPU are spared until its holder has gone. RET a list
 * for FREE_NULL_LIST(), or NULL when nobody may be preempted
 */
static List _preemptable(const job_test_t *test)
{
	List jobs = NULL;
	ListIterator iter;
	job_record_t *job_ptr;

	if (!test->preemptee_candidates)
		return NULL;
	iter = list_iterator_create(test->preemptee_candidates);
	while ((job_ptr = list_next(iter))) {
		if (_job_is_in_the_way(job_ptr))
			continue;
		if (!jobs)
			jobs = list_create(NULL);
		list_append(jobs, job_ptr);
	}
	list_iterator_destroy(iter);
	return jobs;
}

/*
 * cons_tres has chosen nodes to keep off: see whether it finds others. The
 * first answer is asked for again when it does not.
 */
static int _judge_again(const job_test_t *test, bitstr_t *all,
			bitstr_t *doubtful, List preemptable,
			const job_state_t *before, decision_t *decision)
{
	int rc;

	bit_copybits(test->bitmap, all);
	bit_and_not(test->bitmap, doubtful);
	judge_restore_job(test->job_ptr, before);
	rc = judge(test, test->bitmap, NULL, decision);
	if (rc == SLURM_SUCCESS)
		return rc;
	bit_copybits(test->bitmap, all);
	judge_restore_job(test->job_ptr, before);
	return judge(test, test->bitmap, preemptable, decision);
}

extern int judge_all_nodes(const job_test_t *test, bitstr_t *avoided,
			   decision_t *decision)
{
	gpu_mask_t mask = { 0 };
	bitstr_t *doubtful = NULL, *all = NULL;
	job_state_t before = judge_save_job(test->job_ptr);
	List preemptable;
	int rc;

	ledger_find_tokens(test->bitmap);
	preemptable = _preemptable(test);
	if (_takes_gpus(test->job_ptr))
		_hide_flagged(test, &mask);
	if ((test->mode == SELECT_MODE_RUN_NOW) &&
	    (doubtful = _doubtful(test, avoided)))
		all = bit_copy(test->bitmap);
	rc = judge(test, test->bitmap, preemptable, decision);
	if ((rc == SLURM_SUCCESS) && doubtful &&
	    bit_overlap_any(test->bitmap, doubtful) &&
	    !(test->preemptee_job_list && *test->preemptee_job_list))
		rc = _judge_again(test, all, doubtful, preemptable, &before,
				  decision);
	gpu_mask_undo(&mask);
	FREE_NULL_LIST(preemptable);
	FREE_NULL_BITMAP(doubtful);
	FREE_NULL_BITMAP(all);
	return rc;
}
