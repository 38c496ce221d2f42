/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job judged over all nodes, as plain Slurm would, but for three things:
 * GPUs in quarantine are hidden, doubtful nodes come last, and nobody is
 * preempted for a GPU that could not be given out.
 */
#ifndef ACRF_SELECT_ALL_NODES_H
#define ACRF_SELECT_ALL_NODES_H

#include "plugins/select_acrf/decisions.h"
#include "plugins/select_acrf/place.h"

/* `avoided`: nodes on which the job died before; NULL: none */
extern int judge_all_nodes(const job_test_t *test, bitstr_t *avoided,
			   decision_t *decision);

#endif
