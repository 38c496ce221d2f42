/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operations that slurmctld and its clients call in a select plugin, after
 * "select_p_": OP(RESULT, NAME, PARAMETERS, ARGUMENTS).
 */
#ifndef ACRF_SELECT_OPERATIONS_H
#define ACRF_SELECT_OPERATIONS_H

#include "plugins/slurm_compat.h"

/* What ACRF takes part in; no arguments, as nothing is made of them */
#define WATCHED_OPERATIONS(OP) \
	OP(int, node_init, (void), ()) \
	OP(int, job_test, \
	   (job_record_t *job_ptr, bitstr_t *bitmap, uint32_t min_nodes, \
	    uint32_t max_nodes, uint32_t req_nodes, uint16_t mode, \
	    List preemptee_candidates, List *preemptee_job_list, \
	    ACRF_JOB_TEST_LAST(acrf_excluded_t *excluded, \
			       will_run_data_t *will_run)), ()) \
	OP(int, job_expand, (job_record_t *from, job_record_t *to), ()) \
	OP(int, job_resized, \
	   (job_record_t *job_ptr, node_record_t *node_ptr), ()) \
	OP(int, job_fini, (job_record_t *job_ptr), ()) \
	OP(int, job_suspend, (job_record_t *job_ptr, bool indf_susp), ()) \
	OP(int, job_resume, (job_record_t *job_ptr, bool indf_susp), ()) \
	OP(int, select_nodeinfo_set, (job_record_t *job_ptr), ()) \
	OP(int, reconfigure, (void), ()) \
	OLD_WATCHED_OPERATIONS(OP)

/* What is cons_tres' alone */
#define FORWARDED_OPERATIONS(OP) \
	OP(int, state_save, (char *dir_name), (dir_name)) \
	OP(int, state_restore, (char *dir_name), (dir_name)) \
	OP(int, job_init, (List jobs), (jobs)) \
	OP(int, job_begin, (job_record_t *job_ptr), (job_ptr)) \
	OP(int, job_ready, (job_record_t *job_ptr), (job_ptr)) \
	OP(bitstr_t *, step_pick_nodes, \
	   (job_record_t *job_ptr, select_jobinfo_t *step_jobinfo, \
	    uint32_t node_count, bitstr_t **avail_nodes), \
	   (job_ptr, step_jobinfo, node_count, avail_nodes)) \
	OP(int, step_start, (step_record_t *step_ptr), (step_ptr)) \
	OP(int, step_finish, (step_record_t *step_ptr, bool killing_step), \
	   (step_ptr, killing_step)) \
	OP(int, select_nodeinfo_pack, \
	   (select_nodeinfo_t *nodeinfo, buf_t *buffer, uint16_t version), \
	   (nodeinfo, buffer, version)) \
	OP(int, select_nodeinfo_unpack, \
	   (select_nodeinfo_t **nodeinfo, buf_t *buffer, uint16_t version), \
	   (nodeinfo, buffer, version)) \
	OP(select_nodeinfo_t *, select_nodeinfo_alloc, (void), ()) \
	OP(int, select_nodeinfo_free, (select_nodeinfo_t *nodeinfo), \
	   (nodeinfo)) \
	OP(int, select_nodeinfo_set_all, (void), ()) \
	OP(int, select_nodeinfo_get, \
	   (select_nodeinfo_t *nodeinfo, enum select_nodedata_type dinfo, \
	    enum node_states state, void *data), \
	   (nodeinfo, dinfo, state, data)) \
	OP(select_jobinfo_t *, select_jobinfo_alloc, (void), ()) \
	OP(int, select_jobinfo_free, (select_jobinfo_t *jobinfo), (jobinfo)) \
	OP(int, select_jobinfo_set, \
	   (select_jobinfo_t *jobinfo, enum select_jobdata_type data_type, \
	    void *data), \
	   (jobinfo, data_type, data)) \
	OP(int, select_jobinfo_get, \
	   (select_jobinfo_t *jobinfo, enum select_jobdata_type data_type, \
	    void *data), \
	   (jobinfo, data_type, data)) \
	OP(select_jobinfo_t *, select_jobinfo_copy, \
	   (select_jobinfo_t *jobinfo), (jobinfo)) \
	OP(int, select_jobinfo_pack, \
	   (select_jobinfo_t *jobinfo, buf_t *buffer, uint16_t version), \
	   (jobinfo, buffer, version)) \
	OP(int, select_jobinfo_unpack, \
	   (select_jobinfo_t **jobinfo, buf_t *buffer, uint16_t version), \
	   (jobinfo, buffer, version)) \
	OP(int, get_info_from_plugin, \
	   (enum select_plugindata_info dinfo, job_record_t *job_ptr, \
	    void *data), \
	   (dinfo, job_ptr, data)) \
	OLD_FORWARDED_OPERATIONS(OP)

/* What 22.05 alone knows */
#if ACRF_SLURM_22_05
#define OLD_WATCHED_OPERATIONS(OP) \
	OP(int, update_node_config, (int index), ())
#define OLD_FORWARDED_OPERATIONS(OP) \
	OP(int, job_signal, (job_record_t *job_ptr, int signal), \
	   (job_ptr, signal)) \
	OP(char *, select_jobinfo_sprint, \
	   (select_jobinfo_t *jobinfo, char *buf, size_t size, int mode), \
	   (jobinfo, buf, size, mode)) \
	OP(char *, select_jobinfo_xstrdup, \
	   (select_jobinfo_t *jobinfo, int mode), (jobinfo, mode)) \
	OP(bitstr_t *, resv_test, \
	   (resv_desc_msg_t *resv_desc_ptr, uint32_t node_cnt, \
	    bitstr_t *avail_bitmap, bitstr_t **core_bitmap), \
	   (resv_desc_ptr, node_cnt, avail_bitmap, core_bitmap))
#else
#define OLD_WATCHED_OPERATIONS(OP)
#define OLD_FORWARDED_OPERATIONS(OP)
#endif

#define SELECT_OPERATIONS(OP) WATCHED_OPERATIONS(OP) FORWARDED_OPERATIONS(OP)

#endif
