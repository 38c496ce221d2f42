/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * acrf.conf as job_submit sees it. It is read at the start and, by the thread
 * of release.c, after slurmctld has read its own files again; a faulty file
 * leaves in force what was.
 */
#ifndef ACRF_SITE_H
#define ACRF_SITE_H

#include "plugins/slurm_compat.h"

#include "plugins/bridge/policy_bridge.h"

/* RET SLURM_SUCCESS, or SLURM_ERROR when there is no memory */
extern int site_open(void);
extern void site_close(void);

/* Reads the file again if slurmctld has; call it without slurmctld's locks */
extern void site_refresh(void);

/* Between these two calls the site stays what it is; keep it short */
extern const acrf_site_t *site_lock(void);
extern void site_unlock(void);

#endif
