/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spank_acrf: the --acrf-* options of sbatch, srun and salloc, and the ACRF_*
 * variables of a running job.
 *
 * The checkpoint to resume from is chosen once per step, so that all its ranks
 * begin from the same one: for the batch script by slurmstepd, for a step by
 * the srun that starts it.
 */
#define _GNU_SOURCE		/* program_invocation_short_name */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/spank.h>

#include "plugins/bridge/policy_bridge.h"
#include "plugins/spank_acrf/step_end.h"

#define EXPORT __attribute__((visibility("default")))
#define SRUN_WAIT_MS 2000	/* its tasks' slurmstepds may take a second */
#define SRUN_POLL_MS 10
#define GROUP_WAIT_MS 300
#define GROUP_POLL_MS 5
#define LONGEST_LIST 65536	/* of node names, compressed */
#define PASSED_OPTION "_SLURM_SPANK_OPTION_acrf_acrf_"
#define LEAKED_OPTION "SLURM_SPANK__SLURM_SPANK_OPTION_acrf_acrf_"

EXPORT const char plugin_name[] = "acrf";
EXPORT const char plugin_type[] = "spank";
EXPORT const unsigned int plugin_version = SLURM_VERSION_NUMBER;
EXPORT const unsigned int spank_plugin_version = 1;

/* What srun was told itself; NULL: ask the environment */
static char *checkpoint_dir_option;

/* Which options the command line or a script gave */
static bool given[ACRF_OPTION_CNT];

/* In slurmstepd: a task of a job that ACRF brings back has */
static bool ended_badly;

static int _take_option(int index, const char *optarg, int remote)
{
	const char *name = acrf_option(index).name;
	char refusal[1024] = "";

	if (remote)
		return 0;	/* job_submit has judged it */
	if (acrf_check_option(name, optarg, refusal, sizeof(refusal))) {
		slurm_error("%s", refusal);
		return -1;
	}
	given[index] = true;
	if (!strcmp(name, "checkpoint-dir")) {
		free(checkpoint_dir_option);
		checkpoint_dir_option = strdup(optarg);
	}
	return 0;
}

/* In sbatch, salloc and srun, for their help texts too, and in slurmstepd */
/* The name under which Slurm passes an option on: dashes become underscores */
static void _option_variable(char *name, size_t size, const char *prefix,
			     int index)
{
	snprintf(name, size, "%s%s", prefix, acrf_option(index).name);
	for (char *c = name; *c; c++)
		if (*c == '-')
			*c = '_';
}

/*
 * sbatch and salloc called within an allocation find the options of its job in
 * the environment, and would take them for their own. srun may keep them: its
 * steps are part of that job.
 */
static void _forget_outer_options(void)
{
	char name[256];

	if (spank_context() != S_CTX_ALLOCATOR)
		return;
	for (int i = 0; i < ACRF_OPTION_CNT; i++) {
		_option_variable(name, sizeof(name), LEAKED_OPTION, i);
		unsetenv(name);
	}
}

EXPORT int slurm_spank_init(spank_t sp, int ac, char **av)
{
	static char names[ACRF_OPTION_CNT][64];

	_forget_outer_options();
	for (int i = 0; i < ACRF_OPTION_CNT; i++) {
		acrf_option_t from = acrf_option(i);
		struct spank_option option = {
			.name = names[i],
			.arginfo = (char *) from.argument,
			.usage = (char *) from.help,
			.has_arg = 1,
			.val = i,
			.cb = _take_option,
		};

		snprintf(names[i], sizeof(names[i]), "acrf-%s", from.name);
		if (spank_option_register(sp, &option) != ESPANK_SUCCESS)
			return ESPANK_ERROR;
	}
	return ESPANK_SUCCESS;
}

/* "checkpoint-dir" as PREFIX_CHECKPOINT_DIR */
static void _variable_name(char *to, size_t size, const char *prefix,
			   const char *option)
{
	size_t length = snprintf(to, size, "%s_", prefix);

	for (; *option && (length + 1 < size); option++)
		to[length++] = (*option == '-') ? '_' :
						  toupper((unsigned char) *option);
	to[length] = '\0';
}

/*
 * The default of an option in the environment: SBATCH_ACRF_* (or SALLOC_,
 * SLURM_ for srun) before ACRF_*. The latter are not looked at inside a job,
 * where they are what ACRF gave to that job.
 */
static const char *_environment_default(const char *option)
{
	const char *command = program_invocation_short_name, *value;
	const char *prefix = !strcmp(command, "sbatch") ? "SBATCH_ACRF" :
			     !strcmp(command, "salloc") ? "SALLOC_ACRF" :
							  "SLURM_ACRF";
	char name[64];

	_variable_name(name, sizeof(name), prefix, option);
	if ((value = getenv(name)))
		return value;
	if (getenv("ACRF_JOB_POLICY") || getenv("SLURM_JOB_ID"))
		return NULL;
	/* Only batch jobs come back: a habit must not stop srun and salloc */
	if (strcmp(command, "sbatch") &&
	    (!strcmp(option, "policy") || !strcmp(option, "spares") ||
	     !strcmp(option, "min-nodes")))
		return NULL;
	_variable_name(name, sizeof(name), "ACRF", option);
	return getenv(name);
}

/*
 * Passes a default on as SPANK passes an option on. A bad one too: here nothing
 * would stop the command, but job_submit refuses it with the same sentence.
 */
static int _set_default(spank_t sp, int index, const char *value)
{
	char name[128];

	(void) _take_option(index, value, 0);
	_option_variable(name, sizeof(name), PASSED_OPTION, index);
	if (spank_job_control_setenv(sp, name, value, 1) == ESPANK_SUCCESS)
		return 0;
	slurm_error("acrf: --acrf-%s can't be set from the environment",
		    acrf_option(index).name);
	return -1;
}

EXPORT int slurm_spank_init_post_opt(spank_t sp, int ac, char **av)
{
	if (spank_remote(sp))
		return ESPANK_SUCCESS;
	for (int i = 0; i < ACRF_OPTION_CNT; i++) {
		const char *value = given[i] ? NULL :
				    _environment_default(acrf_option(i).name);

		if (value && *value && _set_default(sp, i, value))
			return ESPANK_ERROR;
	}
	return ESPANK_SUCCESS;
}

static uint32_t _number(const char *text)
{
	return text ? (uint32_t) strtoul(text, NULL, 10) : 0;
}

/* srun, right before it launches a step: its environment becomes the tasks' */
EXPORT int slurm_spank_local_user_init(spank_t sp, int ac, char **av)
{
	const char *dir = checkpoint_dir_option ? checkpoint_dir_option :
			  getenv("ACRF_CHECKPOINT_DIR");
	const char *format = getenv("ACRF_CHECKPOINT_FORMAT");
	char path[PATH_MAX];

	if (!dir)
		return ESPANK_SUCCESS;
	setenv("ACRF_CHECKPOINT_DIR", dir, 1);
	if (!acrf_newest_checkpoint(dir, format,
				    _number(getenv("SLURM_JOB_ID")),
				    _number(getenv("SLURM_RESTART_COUNT")),
				    path, sizeof(path)))
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
		_option_variable(name, sizeof(name), LEAKED_OPTION, i);
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

/* The fence, by which a writer of an earlier restart is told, and the checkpoint */
static void _set_resume(spank_t sp, uint32_t restart)
{
	char dir[PATH_MAX], path[PATH_MAX], fence[64], format[32] = "auto";
	uint32_t job_id = 0;

	if (spank_get_item(sp, S_JOB_ID, &job_id) == ESPANK_SUCCESS) {
		snprintf(fence, sizeof(fence), "%u.%u", job_id, restart);
		spank_setenv(sp, "ACRF_FENCE", fence, 1);
	}
	(void) spank_getenv(sp, "ACRF_CHECKPOINT_FORMAT", format,
			    sizeof(format));
	if ((spank_getenv(sp, "ACRF_CHECKPOINT_DIR", dir, sizeof(dir)) ==
	     ESPANK_SUCCESS) &&
	    !acrf_newest_checkpoint(dir, format, job_id, restart, path,
				    sizeof(path)))
		spank_setenv(sp, "ACRF_RESUME_FROM", path, 1);
}

/*
 * For a step of acrf run: its tasks are numbered node by node, in an order that
 * SLURM_NODEID does not follow
 */
static void _set_node_rank(spank_t sp)
{
	char per_node[16] = "", rank[16];
	uint32_t task = 0, tasks;

	if ((spank_getenv(sp, "ACRF_RUN_TASKS_PER_NODE", per_node,
			  sizeof(per_node)) != ESPANK_SUCCESS) ||
	    !(tasks = _number(per_node)) ||
	    (spank_get_item(sp, S_TASK_GLOBAL_ID, &task) != ESPANK_SUCCESS))
		return;
	snprintf(rank, sizeof(rank), "%u", task / tasks);
	spank_setenv(sp, "NODE_RANK", rank, 1);
}

/* slurmstepd, as the job's user, before the batch script or a task begins */
EXPORT int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
	char path[PATH_MAX], count[32] = "0";

	if (!_is_batch_script(sp)) {
		_set_node_rank(sp);
		return ESPANK_SUCCESS;
	}
	_drop_leaked_options(sp);
	_set_rank_order(sp);
	spank_unsetenv(sp, "ACRF_FENCE");
	if (spank_getenv(sp, "ACRF_JOB_POLICY", path, sizeof(path)) !=
	    ESPANK_SUCCESS)
		return ESPANK_SUCCESS;

	/* Not S_SLURM_RESTART_COUNT: 22.05 leaves it 0 for a batch script */
	(void) spank_getenv(sp, "SLURM_RESTART_COUNT", count, sizeof(count));
	spank_setenv(sp, "ACRF_RESTART_COUNT", count, 1);
	_set_resume(sp, _number(count));
	return ESPANK_SUCCESS;
}

/* Is this process a living srun of the process group? */
static bool _is_srun_of(const char *pid, pid_t group)
{
	char path[64], line[256], *rest, state;
	int parent, pgrp = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	if (!(file = fopen(path, "r")))
		return false;
	rest = fgets(line, sizeof(line), file);
	fclose(file);
	if (!rest || !(rest = strstr(line, " (srun) ")))
		return false;
	return (sscanf(rest + strlen(" (srun) "), "%c %d %d", &state, &parent,
		       &pgrp) == 3) && (pgrp == group) && (state != 'Z');
}

static bool _srun_is_left(pid_t group)
{
	struct dirent *entry;
	bool found = false;
	DIR *proc = opendir("/proc");

	while (proc && !found && (entry = readdir(proc)))
		if (isdigit((unsigned char) entry->d_name[0]))
			found = _is_srun_of(entry->d_name, group);
	if (proc)
		closedir(proc);
	return found;
}

/*
 * A task's children die of the same signal as the task, some milliseconds
 * later; a slurmstepd that finds one left then looks again only after a second.
 * So it gets to look when they are gone.
 */
static void _let_group_end(pid_t group)
{
	static int waited_ms;	/* for all tasks of this slurmstepd */

	for (; (waited_ms < GROUP_WAIT_MS) && !kill(-group, 0);
	     waited_ms += GROUP_POLL_MS)
		usleep(GROUP_POLL_MS * 1000);
}

/*
 * slurmstepd, when a task or the batch script has ended. A job that is requeued
 * gets SIGTERM everywhere: the shell of the script ends of it at once, while
 * srun still waits for its tasks to end, and would be killed with what else the
 * script left behind. The slurmstepds of those tasks would then try for more
 * than two seconds to reach it, and the job could not start again before. So
 * srun gets the moment that it needs.
 */
EXPORT int slurm_spank_task_exit(spank_t sp, int ac, char **av)
{
	char policy[32];
	int status = 0;
	pid_t pid = 0;

	if ((spank_getenv(sp, "ACRF_JOB_POLICY", policy, sizeof(policy)) !=
	     ESPANK_SUCCESS) ||
	    (spank_get_item(sp, S_TASK_EXIT_STATUS, &status) !=
	     ESPANK_SUCCESS) || !status ||
	    (spank_get_item(sp, S_TASK_PID, &pid) != ESPANK_SUCCESS) ||
	    (pid <= 1))
		return ESPANK_SUCCESS;
	ended_badly = true;
	if (_is_batch_script(sp))
		for (int ms = 0; (ms < SRUN_WAIT_MS) && _srun_is_left(pid);
		     ms += SRUN_POLL_MS)
			usleep(SRUN_POLL_MS * 1000);
	_let_group_end(pid);
	return ESPANK_SUCCESS;
}

/* slurmstepd, when all tasks have ended, before it reports that */
EXPORT int slurm_spank_exit(spank_t sp, int ac, char **av)
{
	if (ended_badly && spank_remote(sp) && !_is_batch_script(sp))
		step_end_report_at_once();
	return ESPANK_SUCCESS;
}
