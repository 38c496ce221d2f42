/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy engine for C: plain values in, plain values out. No function
 * throws, and none keeps a pointer that it was given.
 */
#ifndef ACRF_POLICY_BRIDGE_H
#define ACRF_POLICY_BRIDGE_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How spank_job_env carries the token with the job */
#define ACRF_POLICY_ENV "ACRF_POLICY="

/* The --acrf-* options; texts that live as long as the plugin */
#define ACRF_OPTION_CNT 13
typedef struct {
	const char *name;	/* without "--acrf-" */
	const char *argument;
	const char *help;
} acrf_option_t;
extern acrf_option_t acrf_option(int index);

/* Check one option. RET 0, or -1 with a sentence in `refusal` */
extern int acrf_check_option(const char *name, const char *value,
			     char *refusal, size_t size);

/* In StateSaveLocation: the text of the last good acrf.conf */
#define ACRF_KEPT_CONF "acrf-last-good.conf"

/* acrf.conf as it was when it was read */
typedef struct acrf_site acrf_site_t;

/*
 * Read acrf.conf in the directory of slurm.conf, and look up the users that it
 * names. The text of a good file is kept at `kept_path`, and read in place of a
 * faulty one. RET NULL with a sentence in `problem`, also of what the site could
 * be read in spite of; without the file the defaults
 */
extern acrf_site_t *acrf_site_load(const char *slurm_conf_path,
				   const char *kept_path, char *problem,
				   size_t size);
/* RET the defaults; NULL: no memory */
extern acrf_site_t *acrf_site_default(void);
extern void acrf_site_free(acrf_site_t *site);
extern int acrf_site_kill_wait_s(const acrf_site_t *site);
/* 0: no limit */
extern int acrf_site_requeues_per_minute(const acrf_site_t *site);
/* 0: nobody becomes a suspect by what a job says */
extern int acrf_site_suspect_time_s(const acrf_site_t *site);
extern int acrf_site_suspects_per_user(const acrf_site_t *site);
/* Mode=enforce */
extern int acrf_site_enforces(const acrf_site_t *site);
/* Programs that fail are requeued now and then */
extern int acrf_site_retries(const acrf_site_t *site);

/* What Slurm says of a job; NULL or 0: nothing */
typedef struct {
	const char *partition, *account, *qos;
	const char *tres_per_job, *tres_per_node, *tres_per_task;
	const char *array;	/* indices of its tasks */
	uint32_t uid;
	uint32_t nodes, tasks;
	int64_t time_limit_s;
	double failures, node_days; /* of the cluster's nodes so far */
	int is_batch;
	int is_het;		/* component of a heterogeneous job */
	int refuses_requeue;
} acrf_job_t;

typedef struct {
	int applies;		/* 0: ACRF has nothing to do with the job */
	int requeue;		/* the job is to be requeued on a fault */
	int append_output;
	int signal;		/* 0: none before the time limit */
	int signal_time_s;
	int64_t interval_s;	/* between checkpoints; 0: not said */
	int counts_gpus;	/* ask acrf_check_quota() before it is taken */
	char *policy;		/* name of the policy */
	char *workload;
	char *checkpoint_dir;	/* NULL: none */
	char *checkpoint_format; /* NULL: auto */
	char *token;		/* for the job's record */
	char *refusal;		/* a sentence for the user; nothing else is
				 * set then */
} acrf_policy_t;

/*
 * Check and complete what a job asks for; `values` are its options, NULL where
 * one is not given. RET 0, or -1 when the job is to be refused. Call
 * acrf_policy_free() in both cases.
 */
extern int acrf_policy_resolve(const acrf_site_t *site, const acrf_job_t *job,
			       const char *const values[ACRF_OPTION_CNT],
			       acrf_policy_t *policy);
extern void acrf_policy_free(acrf_policy_t *policy);

/* GPUs that the job asks for */
extern int64_t acrf_job_gpus(const acrf_job_t *job);

/*
 * The GPUs of the user's and of the account's other jobs, when acrf_policy_t
 * asks for them. RET 0, or -1 with a sentence in `refusal`
 */
extern int acrf_check_quota(const acrf_site_t *site, const acrf_job_t *job,
			    const char *token, int64_t gpus_of_user,
			    int64_t gpus_of_account, char *refusal,
			    size_t size);

/*
 * A user changes a job that has `token`, which is and would be so. RET 0, or
 * -1 with a sentence in `refusal`
 */
extern int acrf_check_change(const acrf_site_t *site, const acrf_job_t *before,
			     const acrf_job_t *after, const char *token,
			     int keeps_requeue, char *refusal, size_t size);

typedef enum {
	ACRF_HARDWARE,
	ACRF_NODE,
	ACRF_PREEMPTION,
	ACRF_APPLICATION,
	ACRF_OTHER,
} acrf_cause_t;

typedef struct {
	int hold;
	int wait_s;
	char *reason;		/* with hold */
	char *comment;		/* the admin comment with count and run */
} acrf_requeue_t;

/* The run that ended, as far as it is known; times 0 and node NULL: not */
typedef struct {
	time_t submitted;	/* the job */
	time_t started;
	time_t ended;
	const char *node;	/* to blame */
} acrf_run_t;

/*
 * A job was requeued, Slurm's `restart`th time. RET 1 with what becomes of it,
 * to be freed by acrf_requeue_free(); 0 when this restart is counted already;
 * -1 when there is no memory
 */
extern int acrf_requeue_count(const acrf_site_t *site, const char *comment,
			      uint32_t restart, acrf_cause_t cause, int status,
			      const acrf_run_t *run, acrf_requeue_t *requeue);
extern void acrf_requeue_free(acrf_requeue_t *requeue);

/* A program failed: RET 1 when the job is to be requeued for it */
extern int acrf_may_retry(const acrf_site_t *site, const char *comment,
			  int status);

/*
 * The checkpoint below `dir` from which the job begins in its restart of this
 * number: the newest complete one, unless two restarts from it led nowhere. On
 * a restart it also fences off the writers that the job left behind.
 * `format`: as in --acrf-checkpoint-format; NULL or unknown: auto.
 * RET 0 and its path in `path`, or -1 when there is none
 */
extern int acrf_newest_checkpoint(const char *dir, const char *format,
				  uint32_t job_id, uint32_t restart,
				  char *path, size_t size);

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
