/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy engine for C: plain values in, plain values out. No function
 * throws, and none keeps a pointer that it was given.
 */
#ifndef ACRF_POLICY_BRIDGE_H
#define ACRF_POLICY_BRIDGE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How spank_job_env carries the token with the job */
#define ACRF_POLICY_ENV "ACRF_POLICY="

/* The option names, without "--acrf-", in the order of the values below */
#define ACRF_OPTION_CNT 5
extern const char *const acrf_option_names[ACRF_OPTION_CNT];

typedef struct {
	const char *values[ACRF_OPTION_CNT]; /* NULL: not given */
	int is_batch;
	int is_het;		/* component of a heterogeneous job */
	int refuses_requeue;
	int site_max_requeues;
} acrf_policy_request_t;

typedef struct {
	int requeue;		/* the job is to be requeued on a fault */
	char *policy;		/* name of the policy */
	char *checkpoint_dir;	/* NULL: none */
	char *token;		/* for the job's record */
	char *refusal;		/* a sentence for the user; nothing else is
				 * set then */
} acrf_policy_t;

/* Check one option. RET 0, or -1 with a sentence in `refusal` */
extern int acrf_check_option(const char *name, const char *value,
			     char *refusal, size_t size);

/*
 * Check and complete what a job asks for. RET 0, or -1 when the job is to be
 * refused. Call acrf_policy_free() in both cases.
 */
extern int acrf_policy_resolve(const acrf_policy_request_t *request,
			       acrf_policy_t *policy);
extern void acrf_policy_free(acrf_policy_t *policy);

typedef struct {
	int requeue_kill_wait_s;
	int max_requeues;
} acrf_site_t;

/*
 * Read acrf.conf in the directory of slurm.conf. Without the file, or with a
 * faulty one, the defaults. RET 0, or -1 with a sentence in `problem`
 */
extern int acrf_site_load(const char *slurm_conf_path, acrf_site_t *site,
			  char *problem, size_t size);

/*
 * The newest complete checkpoint below `dir`. RET 0 and its path in `path`, or
 * -1 when there is none
 */
extern int acrf_newest_checkpoint(const char *dir, char *path, size_t size);

/*
 * A job's nodes (a host list) in the order of ranks that makes a ring
 * cheapest, by the topology.conf beside slurm.conf. RET 0 and a host list in
 * `order`, or -1 when it can't be told or there is one node only
 */
extern int acrf_rank_order(const char *nodes, char *order, size_t size);

#ifdef __cplusplus
}
#endif
#endif
