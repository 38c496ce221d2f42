/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes that ACRF took out of service, by the reason that it gave them. */
#ifndef ACRF_DRAINED_H
#define ACRF_DRAINED_H

#include "plugins/slurm_compat.h"

#define ACRF_REASON "ACRF: "

static inline bool drained_by_acrf(node_record_t *node_ptr)
{
	return IS_NODE_DRAIN(node_ptr) &&
	       !xstrncmp(node_ptr->reason, ACRF_REASON, strlen(ACRF_REASON));
}

#endif
