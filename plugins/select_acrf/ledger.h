/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every node has and what is free, as the placement engine sees it.
 *
 * slurmctld's own records are the truth. Looking at all of them for each
 * decision would cost more than the decision, so changes are marked as jobs
 * come and go, and what is about to be used is looked at again. All functions
 * want the locks that select_p_job_test() holds.
 */
#ifndef ACRF_SELECT_LEDGER_H
#define ACRF_SELECT_LEDGER_H

#include "plugins/slurm_compat.h"

#include "plugins/bridge/place_bridge.h"

/*
 * Make an engine for the node table and topology as they are now; reads files,
 * so only while slurmctld reads its own. Without an engine, or with one that
 * can't plan, `problem` says why
 */
extern void ledger_create(char *problem, size_t size);
extern void ledger_destroy(void);

/* Count everything anew before the next decision */
extern void ledger_distrust(void);

/*
 * Bring the books up to date. RET the engine, or NULL when there is none for
 * this node table
 */
extern acrf_placer_t *ledger_open(void);
/* RET false when the topology's files are faulty: nodes are known, links not */
extern bool ledger_can_plan(void);

/* The job got its resources (1), or lost them (-1) */
extern void ledger_job(job_record_t *job_ptr, int by);
/* The job loses one node; call it before cons_tres takes it out */
extern void ledger_job_node(job_record_t *job_ptr, node_record_t *node_ptr);
/* Something else about the job's nodes changed */
extern void ledger_mark_job(job_record_t *job_ptr);

/*
 * Read the nodes that the above have marked. ledger_open() does it too, but it
 * is cheapest when cons_tres has just worked on them
 */
extern void ledger_settle(void);

/* As last seen */
extern const acrf_node_t *ledger_node(int node);

/*
 * Look at a node again; at its health only, where no GPU will be hidden by what
 * the books say is free. RET true when the books were right
 */
extern bool ledger_check(int node);
extern bool ledger_check_health(int node);
/* Ask the memory for what those look at, some nodes ahead of them */
extern void ledger_fetch(int node);

/* Look at all nodes again, and count the jobs' CPUs and memory again */
extern void ledger_audit(void);

/* The same, but at most once a minute: cons_tres has just disagreed */
extern void ledger_audit_when_due(void);

/*
 * Nodes to avoid or with GPUs to hide, as last seen. ledger_find_tokens() looks
 * again at those of the bitmap that may be among them
 */
extern bitstr_t *ledger_flagged(void);
extern void ledger_find_tokens(bitstr_t *bitmap);

#endif
