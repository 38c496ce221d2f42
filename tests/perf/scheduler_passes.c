/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/perf/scheduler_passes.h"

#include "config.h"
#include "src/common/slurm_protocol_api.h"

#define UNKNOWN_JOB (MAX_JOB_ID - 1)

extern void kick_scheduler(void)
{
	epilog_complete_msg_t report = {
		.job_id = UNKNOWN_JOB,
		.node_name = "n1",
	};
	slurm_msg_t message;

	slurm_msg_t_init(&message);
	message.msg_type = MESSAGE_EPILOG_COMPLETE;
	message.data = &report;
	slurm_send_only_controller_msg(&message, working_cluster_rec);
}

extern int count_passes(scheduler_passes_t *passes)
{
	stats_info_request_msg_t request = { .command_id = STAT_COMMAND_GET };
	stats_info_response_msg_t *answer = NULL;

	if (slurm_get_statistics(&answer, &request) || !answer)
		return -1;
	passes->main = answer->schedule_cycle_counter;
	passes->backfill = answer->bf_cycle_counter;
	passes->in_backfill = answer->bf_active;
	slurm_free_stats_response_msg(answer);
	return 0;
}
