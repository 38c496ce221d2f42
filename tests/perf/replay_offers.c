/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands before the select plugin in the slurmctld of a replay and notes the
 * nodes that each job was offered when it started. Backfill keeps nodes for
 * jobs that wait: what it does not offer no plugin can choose, and a placement
 * is to be held against the best that was on offer.
 */
#define _GNU_SOURCE
#include "plugins/slurm_compat.h"

#include <dlfcn.h>

#include "tests/perf/replay_offers.h"

typedef int (*job_test_t)(job_record_t *, bitstr_t *, uint32_t, uint32_t,
			  uint32_t, uint16_t, List, List *,
			  ACRF_JOB_TEST_LAST(acrf_excluded_t *,
					     will_run_data_t *));

static void _note(uint32_t job_id, const replay_offer_t offer)
{
	if (replay_offers && (job_id < REPLAY_JOBS))
		memcpy(replay_offers[job_id], offer, sizeof(replay_offer_t));
}

static void _copy(bitstr_t *bitmap, replay_offer_t offer)
{
	bitoff_t nodes = MIN(bit_size(bitmap), REPLAY_NODES);

	memset(offer, 0, sizeof(replay_offer_t));
	for (bitoff_t i = 0; i < nodes; i++)
		if (bit_test(bitmap, i))
			offer[i / 64] |= UINT64_C(1) << (i % 64);
}

__attribute__((visibility("default")))
int select_g_job_test(job_record_t *job_ptr, bitstr_t *bitmap,
		      uint32_t min_nodes, uint32_t max_nodes,
		      uint32_t req_nodes, uint16_t mode,
		      List preemptee_candidates, List *preemptee_job_list,
		      ACRF_JOB_TEST_LAST(acrf_excluded_t *excluded,
					 will_run_data_t *will_run))
{
	static job_test_t real;
	replay_offer_t offer;
	int rc;

	if (!real)
		real = (job_test_t) dlsym(RTLD_NEXT, "select_g_job_test");
	if (mode == SELECT_MODE_RUN_NOW)
		_copy(bitmap, offer);
	rc = real(job_ptr, bitmap, min_nodes, max_nodes, req_nodes, mode,
		  preemptee_candidates, preemptee_job_list,
		  ACRF_JOB_TEST_LAST(excluded, will_run));
	if (!rc && (mode == SELECT_MODE_RUN_NOW))
		_note(job_ptr->job_id, offer);
	return rc;
}
