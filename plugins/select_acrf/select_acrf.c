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

EXPORT int select_p_state_save(char *dir_name)
{
	return delegate.state_save(dir_name);
}

EXPORT int select_p_state_restore(char *dir_name)
{
	return delegate.state_restore(dir_name);
}

EXPORT int select_p_job_init(List jobs)
{
	return delegate.job_init(jobs);
}

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
			     bitstr_t *exc_core_bitmap)
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
		.exc_core_bitmap = exc_core_bitmap,
	};

	return place_job_test(&test);
}

EXPORT int select_p_job_begin(job_record_t *job_ptr)
{
	return delegate.job_begin(job_ptr);
}

EXPORT int select_p_job_ready(job_record_t *job_ptr)
{
	return delegate.job_ready(job_ptr);
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

EXPORT int select_p_job_signal(job_record_t *job_ptr, int signal)
{
	return delegate.job_signal(job_ptr, signal);
}

EXPORT int select_p_job_fini(job_record_t *job_ptr)
{
	ledger_job(job_ptr, -1);
	job_note_guilty_nodes(job_ptr);
	return delegate.job_fini(job_ptr);
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

EXPORT bitstr_t *select_p_step_pick_nodes(job_record_t *job_ptr,
					  select_jobinfo_t *step_jobinfo,
					  uint32_t node_count,
					  bitstr_t **avail_nodes)
{
	return delegate.step_pick_nodes(job_ptr, step_jobinfo, node_count,
					avail_nodes);
}

EXPORT int select_p_step_start(step_record_t *step_ptr)
{
	return delegate.step_start(step_ptr);
}

EXPORT int select_p_step_finish(step_record_t *step_ptr, bool killing_step)
{
	return delegate.step_finish(step_ptr, killing_step);
}

EXPORT int select_p_select_nodeinfo_pack(select_nodeinfo_t *nodeinfo,
					 buf_t *buffer,
					 uint16_t protocol_version)
{
	return delegate.nodeinfo_pack(nodeinfo, buffer, protocol_version);
}

EXPORT int select_p_select_nodeinfo_unpack(select_nodeinfo_t **nodeinfo,
					   buf_t *buffer,
					   uint16_t protocol_version)
{
	return delegate.nodeinfo_unpack(nodeinfo, buffer, protocol_version);
}

EXPORT select_nodeinfo_t *select_p_select_nodeinfo_alloc(void)
{
	return delegate.nodeinfo_alloc();
}

EXPORT int select_p_select_nodeinfo_free(select_nodeinfo_t *nodeinfo)
{
	return delegate.nodeinfo_free(nodeinfo);
}

EXPORT int select_p_select_nodeinfo_set_all(void)
{
	return delegate.nodeinfo_set_all();
}

EXPORT int select_p_select_nodeinfo_set(job_record_t *job_ptr)
{
	int rc;

	rc = delegate.nodeinfo_set(job_ptr);
	if (IS_JOB_RUNNING(job_ptr) || IS_JOB_SUSPENDED(job_ptr))
		ledger_job(job_ptr, 1);
	return rc;
}

EXPORT int select_p_select_nodeinfo_get(select_nodeinfo_t *nodeinfo,
					enum select_nodedata_type dinfo,
					enum node_states state, void *data)
{
	return delegate.nodeinfo_get(nodeinfo, dinfo, state, data);
}

EXPORT select_jobinfo_t *select_p_select_jobinfo_alloc(void)
{
	return delegate.jobinfo_alloc();
}

EXPORT int select_p_select_jobinfo_free(select_jobinfo_t *jobinfo)
{
	return delegate.jobinfo_free(jobinfo);
}

EXPORT int select_p_select_jobinfo_set(select_jobinfo_t *jobinfo,
				       enum select_jobdata_type data_type,
				       void *data)
{
	return delegate.jobinfo_set(jobinfo, data_type, data);
}

EXPORT int select_p_select_jobinfo_get(select_jobinfo_t *jobinfo,
				       enum select_jobdata_type data_type,
				       void *data)
{
	return delegate.jobinfo_get(jobinfo, data_type, data);
}

EXPORT select_jobinfo_t *select_p_select_jobinfo_copy(select_jobinfo_t *jobinfo)
{
	return delegate.jobinfo_copy(jobinfo);
}

EXPORT int select_p_select_jobinfo_pack(select_jobinfo_t *jobinfo,
					buf_t *buffer,
					uint16_t protocol_version)
{
	return delegate.jobinfo_pack(jobinfo, buffer, protocol_version);
}

EXPORT int select_p_select_jobinfo_unpack(select_jobinfo_t **jobinfo,
					  buf_t *buffer,
					  uint16_t protocol_version)
{
	return delegate.jobinfo_unpack(jobinfo, buffer, protocol_version);
}

EXPORT char *select_p_select_jobinfo_sprint(select_jobinfo_t *jobinfo,
					    char *buf, size_t size, int mode)
{
	return delegate.jobinfo_sprint(jobinfo, buf, size, mode);
}

EXPORT char *select_p_select_jobinfo_xstrdup(select_jobinfo_t *jobinfo,
					     int mode)
{
	return delegate.jobinfo_xstrdup(jobinfo, mode);
}

EXPORT int select_p_get_info_from_plugin(enum select_plugindata_info dinfo,
					 job_record_t *job_ptr, void *data)
{
	return delegate.get_info_from_plugin(dinfo, job_ptr, data);
}

EXPORT int select_p_update_node_config(int index)
{
	int rc;

	rc = delegate.update_node_config(index);
	ledger_distrust();
	return rc;
}

EXPORT int select_p_reconfigure(void)
{
	int rc;

	rc = delegate.reconfigure();
	place_configure();
	return rc;
}

EXPORT bitstr_t *select_p_resv_test(resv_desc_msg_t *resv_desc_ptr,
				    uint32_t node_cnt, bitstr_t *avail_bitmap,
				    bitstr_t **core_bitmap)
{
	return delegate.resv_test(resv_desc_ptr, node_cnt, avail_bitmap,
				  core_bitmap);
}
