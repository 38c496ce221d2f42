/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spank_acrf: the --acrf-* options of sbatch, srun and salloc, and the ACRF_*
 * variables of a running job.
 *
 * The checkpoint to resume from is chosen once per step, so that all its ranks
 * begin from the same one: for the batch script by slurmstepd, for a step by
 * the srun that starts it.
 */
#include <limits.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <slurm/slurm.h>
#include <slurm/spank.h>

#include "plugins/bridge/policy_bridge.h"

#define EXPORT __attribute__((visibility("default")))
#define LONGEST_LIST 65536	/* of node names, compressed */
#define LEAKED_OPTION "SLURM_SPANK__SLURM_SPANK_OPTION_acrf_acrf_"

EXPORT const char plugin_name[] = "acrf";
EXPORT const char plugin_type[] = "spank";
EXPORT const unsigned int plugin_version = SLURM_VERSION_NUMBER;
EXPORT const unsigned int spank_plugin_version = 1;

/* What srun was told itself; NULL: ask the environment */
static char *checkpoint_dir_option;

/* RET 0 when the value is good; the option's own sentence otherwise */
static int _check(int index, const char *value)
{
	char refusal[1024] = "";

	if (!acrf_check_option(acrf_option_names[index], value, refusal,
			       sizeof(refusal)))
		return 0;
	slurm_error("%s", refusal);
	return -1;
}

static int _take_policy(int val, const char *optarg, int remote)
{
	return _check(0, optarg);
}

static int _take_checkpoint_dir(int val, const char *optarg, int remote)
{
	if (_check(1, optarg))
		return -1;
	free(checkpoint_dir_option);
	checkpoint_dir_option = strdup(optarg);
	return 0;
}

static int _take_max_requeues(int val, const char *optarg, int remote)
{
	return _check(2, optarg);
}

static int _take_topology(int val, const char *optarg, int remote)
{
	return _check(3, optarg);
}

static int _take_exclude_risk(int val, const char *optarg, int remote)
{
	return _check(4, optarg);
}

EXPORT struct spank_option spank_options[] = {
	{ "acrf-policy", "none|requeue",
	  "what happens to the job when hardware below it fails: requeue brings it back, on other nodes, from its newest complete checkpoint",
	  1, 0, _take_policy },
	{ "acrf-checkpoint-dir", "DIR",
	  "absolute path, shared by all nodes, under which the job keeps its checkpoints, each a directory with an acrf-manifest",
	  1, 0, _take_checkpoint_dir },
	{ "acrf-max-requeues", "N",
	  "hold the job instead of requeueing it once it has been restarted N times",
	  1, 0, _take_max_requeues },
	{ "acrf-topology", "pack|spread|block|any",
	  "where the job's nodes shall be: pack (the default) close together, block on as few leaf switches as possible, spread over failure domains, any wherever it disturbs others least",
	  1, 0, _take_topology },
	{ "acrf-exclude-risk", "low|medium|high",
	  "use nodes with this risk of failure or more only when nothing else fits",
	  1, 0, _take_exclude_risk },
	SPANK_OPTIONS_TABLE_END
};

EXPORT int slurm_spank_init(spank_t sp, int ac, char **av)
{
	if (spank_context() != S_CTX_ALLOCATOR)
		return ESPANK_SUCCESS;
	/* salloc and sbatch register no spank_options[] table by themselves */
	for (struct spank_option *option = spank_options; option->name;
	     option++)
		if (spank_option_register(sp, option) != ESPANK_SUCCESS)
			return ESPANK_ERROR;
	return ESPANK_SUCCESS;
}

/* srun, right before it launches a step: its environment becomes the tasks' */
EXPORT int slurm_spank_local_user_init(spank_t sp, int ac, char **av)
{
	const char *dir = checkpoint_dir_option ? checkpoint_dir_option :
			  getenv("ACRF_CHECKPOINT_DIR");
	char path[PATH_MAX];

	if (!dir)
		return ESPANK_SUCCESS;
	setenv("ACRF_CHECKPOINT_DIR", dir, 1);
	if (!acrf_newest_checkpoint(dir, path, sizeof(path)))
		setenv("ACRF_RESUME_FROM", path, 1);
	else
		unsetenv("ACRF_RESUME_FROM");
	return ESPANK_SUCCESS;
}

static int _is_batch_script(spank_t sp)
{
	uint32_t step_id = 0;

	return (spank_get_item(sp, S_JOB_STEPID, &step_id) == ESPANK_SUCCESS) &&
	       (step_id == SLURM_BATCH_SCRIPT);
}

/* Otherwise an sbatch inside this job would take its options for its own */
static void _drop_leaked_options(spank_t sp)
{
	char name[256];

	for (int i = 0; i < ACRF_OPTION_CNT; i++) {
		snprintf(name, sizeof(name), LEAKED_OPTION "%s",
			 acrf_option_names[i]);
		for (char *c = name + strlen(LEAKED_OPTION); *c; c++)
			if (*c == '-')
				*c = '_';
		spank_unsetenv(sp, name);
	}
}

static void _set_rank_order(spank_t sp)
{
	char *nodes = malloc(LONGEST_LIST), *order = malloc(LONGEST_LIST);

	if (nodes && order &&
	    (spank_getenv(sp, "SLURM_JOB_NODELIST", nodes, LONGEST_LIST) ==
	     ESPANK_SUCCESS) &&
	    !acrf_rank_order(nodes, order, LONGEST_LIST))
		spank_setenv(sp, "ACRF_RANK_ORDER", order, 1);
	free(nodes);
	free(order);
}

/* slurmstepd, as the job's user, before the batch script or a task begins */
EXPORT int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
	char dir[PATH_MAX], path[PATH_MAX], count[32] = "0";

	if (!_is_batch_script(sp))
		return ESPANK_SUCCESS;
	_drop_leaked_options(sp);
	_set_rank_order(sp);
	if (spank_getenv(sp, "ACRF_JOB_POLICY", path, sizeof(path)) !=
	    ESPANK_SUCCESS)
		return ESPANK_SUCCESS;

	/* Not S_SLURM_RESTART_COUNT: 22.05 leaves it 0 for a batch script */
	(void) spank_getenv(sp, "SLURM_RESTART_COUNT", count, sizeof(count));
	spank_setenv(sp, "ACRF_RESTART_COUNT", count, 1);
	if ((spank_getenv(sp, "ACRF_CHECKPOINT_DIR", dir, sizeof(dir)) ==
	     ESPANK_SUCCESS) &&
	    !acrf_newest_checkpoint(dir, path, sizeof(path)))
		spank_setenv(sp, "ACRF_RESUME_FROM", path, 1);
	return ESPANK_SUCCESS;
}
