/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The placement engine for C: plain values in, plain values out. Nodes are
 * numbers in slurmctld's node table. No function throws; one caller at a time.
 */
#ifndef ACRF_PLACE_BRIDGE_H
#define ACRF_PLACE_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
	int enforce;		/* Mode=enforce */
	int placement;		/* Placement=on */
	int budget_us;		/* for one plan */
	int risk_job_gpus;
	int risk_job_hours;
} acrf_place_site_t;

/*
 * Read acrf.conf in the directory of slurm.conf; the defaults without it. While
 * it is faulty, the last good one, kept at `kept_path` by acrf_site_load(), with
 * a sentence in `problem`. RET 0, or -1 with a sentence in `problem` and `site`
 * as for Placement=off
 */
extern int acrf_place_site_load(const char *slurm_conf_path,
				const char *kept_path,
				acrf_place_site_t *site, char *problem,
				size_t size);

typedef struct {
	uint64_t gpus;		/* all, as bits */
	uint64_t free;		/* not allocated */
	uint64_t quarantined;
	uint64_t memory_mb, free_memory_mb;
	uint64_t weight;
	uint32_t type;
	uint32_t cpus, free_cpus;
	int32_t kind;		/* from acrf_placer_add_kind() */
	uint8_t plannable;
	uint8_t suspect;
	uint8_t risk;
	uint8_t probation;	/* for jobs of one node */
	uint8_t unready;	/* of no concern to the engine */
} acrf_node_t;

/* Health from a node's comment. RET 1 when it holds ACRF's token, else 0 */
extern int acrf_node_health(const char *comment, acrf_node_t *node);

/*
 * The nodes on which the job's program failed, or which failed under it or could
 * not launch it, by the job's admin comment: names with commas between. RET 0, or -1 when there are none
 */
extern int acrf_failed_nodes(const char *comment, char *names, size_t size);

typedef struct acrf_placer acrf_placer_t;

/*
 * topology.conf and acrf-topology.conf are read from the directory of
 * slurm.conf when they are there. When they are faulty a sentence in `problem`
 * says why, and the engine knows the nodes but not how they are joined: good
 * for what is known of nodes, not for plans. RET NULL: there is none
 */
extern acrf_placer_t *acrf_placer_create(const char *const *names, int node_cnt,
					 const char *slurm_conf_path,
					 char *problem, size_t size);
extern void acrf_placer_destroy(acrf_placer_t *placer);

/*
 * Link weights between `gpus` GPUs, by rows. RET a number for acrf_node_t, -1
 * when there is no memory
 */
extern int acrf_placer_add_kind(acrf_placer_t *placer, int gpus,
				const int *weights);
extern void acrf_placer_set_node(acrf_placer_t *placer, int node,
				 const acrf_node_t *state);

/* What a job's token asks for */
typedef struct {
	int shape;
	int excluded_risk;	/* 0: not said */
} acrf_wishes_t;
extern void acrf_job_wishes(const char *token, acrf_wishes_t *wishes);

#define ACRF_SHAPE_SPREAD 1	/* core's Shape::kSpread */

typedef struct {
	int min_nodes, max_nodes;
	int gpus_per_node;	/* 0: total_gpus */
	int total_gpus, gpu_step;
	uint32_t type;
	int total_cpus, cpus_per_node;
	uint64_t memory_per_node_mb;
	int all_memory;
	int whole_nodes;
	int ever;
	int shape;
	int risk_limit;
} acrf_request_t;

/* Valid until the placer's next call */
typedef struct {
	int node_cnt;
	const int *nodes;
	const uint64_t *gpus;	/* by node; 0: any will do */
	int64_t cost, runner_up;
	int certified;
	int leaves, pods, avoidable;
	int joined;		/* below one switch of topology.conf */
	const char *summary;	/* "leaf:nodes leaf:nodes ..." */
} acrf_plan_t;

/*
 * `candidates`, `required` and `avoid` (the latter two may be NULL) are bits
 * by node number, 64 to a word. RET 1 with a plan, 0 when there is none to
 * propose, -1 on failure
 */
extern int acrf_placer_plan(acrf_placer_t *placer,
			    const acrf_request_t *request,
			    const uint64_t *candidates,
			    const uint64_t *required, const uint64_t *avoid,
			    acrf_plan_t *plan);

/*
 * Add to `avoid` the nodes that a replica should keep off whose siblings are on
 * these nodes (core/replicas.h). Bits as above. RET 0, or -1 with nothing added
 */
extern int acrf_placer_keep_apart(acrf_placer_t *placer,
				  const uint64_t *candidates,
				  const uint64_t *siblings, uint64_t *avoid);

#ifdef __cplusplus
}
#endif
#endif
