/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often nodes fail here: nodes that ACRF took out of service, and the days
 * that nodes with GPUs were in service, since ACRF was installed. It decides
 * what --acrf-checkpoint-interval=auto means. Kept in StateSaveLocation, in the
 * file acrf-history; written every ten minutes.
 */
#ifndef ACRF_HISTORY_H
#define ACRF_HISTORY_H

#include "plugins/slurm_compat.h"

/* Before the thread starts */
extern void history_open(void);

/* Reads or writes the file when it is time; call it without slurmctld's locks,
 * when this slurmctld is in control */
extern void history_refresh(void);

/* Looks at all nodes once a minute; needs the node read lock */
extern bool history_is_due(void);
extern void history_look(void);

extern void history_get(double *failures, double *node_days);
extern void history_free(void);

#endif
