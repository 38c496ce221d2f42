/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into acrf-healthd by tests: holds it right before a step for as long as a file of the step's
 * name exists in the directory ACRF_HOLD_DIR, so that a test can kill somebody at just that point. The
 * name may be followed by ".NODE": then only that node's daemon (ACRF_HOLD_NODE) is held. One that is
 * held says so by a file "held.STEP.NODE".
 *
 * Steps: slurm_requeue; slurm_signal_job; slurm_update_node, and by what it does: claim, drain, down,
 * not_responding, quarantine, resume, note (any other change of the comment); run.PROGRAM, before one of
 * the site's programs is started.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <slurm/slurm.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void hold(const char *step)
{
	const char *dir = getenv("ACRF_HOLD_DIR");
	const char *node = getenv("ACRF_HOLD_NODE");
	char all[4096], one[4096], held[4096];

	if (!dir || !node)
		return;
	snprintf(all, sizeof(all), "%s/%s", dir, step);
	snprintf(one, sizeof(one), "%s/%s.%s", dir, step, node);
	snprintf(held, sizeof(held), "%s/held.%s.%s", dir, step, node);
	if (access(all, F_OK) && access(one, F_OK))
		return;
	close(open(held, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	while (!access(all, F_OK) || !access(one, F_OK))
		usleep(1000);
}

static const char *step_of(const update_node_msg_t *msg)
{
	if (msg->node_state == NODE_STATE_DRAIN)
		return "drain";
	if (msg->node_state == NODE_RESUME)
		return "resume";
	if (msg->node_state == NODE_STATE_DOWN)
		return "down";
	if (msg->node_state == NODE_STATE_NO_RESPOND)
		return "not_responding";
	if (msg->comment && strstr(msg->comment, "claim="))
		return "claim";
	if (msg->comment && strstr(msg->comment, "gpus="))
		return "quarantine";
	return "note";
}

__attribute__((visibility("default"))) int slurm_requeue(uint32_t job_id, uint32_t flags)
{
	int (*real)(uint32_t, uint32_t) = dlsym(RTLD_NEXT, "slurm_requeue");

	hold("slurm_requeue");
	return real(job_id, flags);
}

__attribute__((visibility("default"))) int slurm_signal_job(uint32_t job_id, uint16_t signal)
{
	int (*real)(uint32_t, uint16_t) = dlsym(RTLD_NEXT, "slurm_signal_job");

	hold("slurm_signal_job");
	return real(job_id, signal);
}

__attribute__((visibility("default"))) int slurm_update_node(update_node_msg_t *msg)
{
	int (*real)(update_node_msg_t *) = dlsym(RTLD_NEXT, "slurm_update_node");

	hold("slurm_update_node");
	hold(step_of(msg));
	return real(msg);
}

/* healthd runs a site's program in a worker: ... -- PROGRAM ARGUMENT... */
__attribute__((visibility("default"))) int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *files,
						       const posix_spawnattr_t *attributes, char *const arguments[],
						       char *const environment[])
{
	int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
		    char *const[]) = dlsym(RTLD_NEXT, "posix_spawn");
	char step[256];

	for (char *const *word = arguments; *word; word++) {
		if (strcmp(*word, "--") || !word[1])
			continue;
		snprintf(step, sizeof(step), "run.%s", basename(word[1]));
		hold(step);
		break;
	}
	return real(pid, path, files, attributes, arguments, environment);
}
