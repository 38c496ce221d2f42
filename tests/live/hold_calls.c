/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into acrf-healthd by tests: holds a call to slurmctld for as long as a file of the call's
 * name exists in the directory ACRF_HOLD_DIR, so that a test can kill somebody right before it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void hold(const char *call)
{
	const char *dir = getenv("ACRF_HOLD_DIR");
	char path[4096];

	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s/%s", dir, call);
	while (!access(path, F_OK))
		usleep(1000);
}

__attribute__((visibility("default"))) int slurm_requeue(uint32_t job_id, uint32_t flags)
{
	int (*real)(uint32_t, uint32_t) = dlsym(RTLD_NEXT, "slurm_requeue");

	hold("slurm_requeue");
	return real(job_id, flags);
}

__attribute__((visibility("default"))) int slurm_update_node(update_node_msg_t *msg)
{
	int (*real)(update_node_msg_t *) = dlsym(RTLD_NEXT, "slurm_update_node");

	hold("slurm_update_node");
	return real(msg);
}
