/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select/acrf: every operation goes to select/cons_tres, which judges and
 * allocates; place.c proposes where, and ledger.c keeps count as jobs come and
 * go. Built twice: as the drop-in, with cons_tres' own type and id, and as
 * select/acrf with an id of its own (ACRF_SELECT_NAMED).
 */
#include "plugins/select_acrf/decisions.h"
#include "plugins/select_acrf/delegate.h"
#include "plugins/select_acrf/job_request.h"
#include "plugins/select_acrf/ledger.h"
#include "plugins/select_acrf/place.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT const char plugin_name[] = SELECT_ACRF_NAME;
#ifdef ACRF_SELECT_NAMED
#define SELECT_PLUGIN_ACRF 2767	/* any number that no other plugin has */
EXPORT const char plugin_type[] = "select/acrf";
EXPORT const uint32_t plugin_id = SELECT_PLUGIN_ACRF;
#else
EXPORT const char plugin_type[] = "select/cons_tres";
EXPORT const uint32_t plugin_id = SELECT_PLUGIN_CONS_TRES;
#endif
EXPORT const uint32_t plugin_version = SLURM_VERSION_NUMBER;

EXPORT int init(void)
{
	return delegate_open();
}

EXPORT int fini(void)
{
	decisions_stop();
	ledger_destroy();
	delegate_close();
	return SLURM_SUCCESS;
}

#define DECLARE(result, name, parameters, arguments) \
	EXPORT result select_p_##name parameters;
SELECT_OPERATIONS(DECLARE)

/* What is cons_tres' alone */
#define FORWARD(result, name, parameters, arguments) \
	EXPORT result select_p_##name parameters \
	{ \
		return delegate.name arguments; \
	}
FORWARDED_OPERATIONS(FORWARD)

EXPORT int select_p_node_init(void)
{
	place_configure();
	decisions_start();
	return delegate.node_init();
}

EXPORT int select_p_job_test(job_record_t *job_ptr, bitstr_t *bitmap,
			     uint32_t min_nodes, uint32_t max_nodes,
			     uint32_t req_nodes, uint16_t mode,
			     List preemptee_candidates,
			     List *preemptee_job_list,
			     ACRF_JOB_TEST_LAST(acrf_excluded_t *excluded,
						will_run_data_t *will_run))
{
	job_test_t test = {
		.job_ptr = job_ptr,
		.bitmap = bitmap,
		.min_nodes = min_nodes,
		.max_nodes = max_nodes,
		.req_nodes = req_nodes,
		.mode = mode,
		.preemptee_candidates = preemptee_candidates,
		.preemptee_job_list = preemptee_job_list,
		ACRF_JOB_TEST_LAST(.excluded = excluded, .will_run = will_run),
	};

	return place_job_test(&test);
}

EXPORT int select_p_job_expand(job_record_t *from_job_ptr,
			       job_record_t *to_job_ptr)
{
	int rc;

	/* cons_tres moves the resources: count both jobs anew */
	rc = delegate.job_expand(from_job_ptr, to_job_ptr);
	ledger_distrust();
	return rc;
}

EXPORT int select_p_job_resized(job_record_t *job_ptr, node_record_t *node_ptr)
{
	ledger_job_node(job_ptr, node_ptr);
	return delegate.job_resized(job_ptr, node_ptr);
}

EXPORT int select_p_job_fini(job_record_t *job_ptr)
{
	int rc;

	ledger_job(job_ptr, -1);
	job_note_guilty_nodes(job_ptr);
	rc = delegate.job_fini(job_ptr);
	ledger_settle();
	return rc;
}

EXPORT int select_p_job_suspend(job_record_t *job_ptr, bool indf_susp)
{
	int rc;

	rc = delegate.job_suspend(job_ptr, indf_susp);
	ledger_mark_job(job_ptr);
	return rc;
}

EXPORT int select_p_job_resume(job_record_t *job_ptr, bool indf_susp)
{
	int rc;

	rc = delegate.job_resume(job_ptr, indf_susp);
	ledger_mark_job(job_ptr);
	return rc;
}

EXPORT int select_p_select_nodeinfo_set(job_record_t *job_ptr)
{
	int rc;

	rc = delegate.select_nodeinfo_set(job_ptr);
	if (IS_JOB_RUNNING(job_ptr) || IS_JOB_SUSPENDED(job_ptr))
		ledger_job(job_ptr, 1);
	ledger_settle();
	return rc;
}

EXPORT int select_p_reconfigure(void)
{
	int rc;

	rc = delegate.reconfigure();
	place_configure();
	return rc;
}

#if ACRF_SLURM_22_05
EXPORT int select_p_update_node_config(int index)
{
	int rc;

	rc = delegate.update_node_config(index);
	ledger_distrust();
	return rc;
}
#endif
