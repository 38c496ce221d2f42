/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/job_submit_acrf/send_signal.h"

static void _send(slurm_step_id_t step_id, bitstr_t *nodes, uint16_t flags,
		  uint16_t signal)
{
	agent_arg_t *request = xmalloc(sizeof(*request));
	signal_tasks_msg_t *msg = xmalloc(sizeof(*msg));

	request->msg_type = REQUEST_SIGNAL_TASKS;
	request->retry = 0;
	request->protocol_version = SLURM_PROTOCOL_VERSION;
	request->hostlist = hostlist_create(NULL);
	for (bitoff_t i = bit_ffs(nodes), last = bit_fls(nodes);
	     (i >= 0) && (i <= last); i++) {
		node_record_t *node_ptr = node_record_table_ptr[i];

		if (!bit_test(nodes, i) || !node_ptr)
			continue;
		request->protocol_version = MIN(request->protocol_version,
						node_ptr->protocol_version);
		hostlist_push_host(request->hostlist, node_ptr->name);
		request->node_count++;
	}
	msg->step_id = step_id;
	msg->flags = flags;
	msg->signal = signal;
	request->msg_args = msg;
	set_agent_arg_r_uid(request, SLURM_AUTH_UID_ANY);
	agent_queue_request(request);
}

extern void send_signal(job_record_t *job_ptr, bitstr_t *nodes, uint16_t flags,
			uint16_t signal)
{
	slurm_step_id_t by_flags_only = {
		.job_id = job_ptr->job_id,
		.step_id = slurm_conf.max_step_cnt + 1,
		.step_het_comp = NO_VAL,
	};

	_send(by_flags_only, nodes, flags, signal);
}

extern void send_step_signal(step_record_t *step_ptr, bitstr_t *nodes,
			     uint16_t signal)
{
	_send(step_ptr->step_id, nodes, 0, signal);
}
