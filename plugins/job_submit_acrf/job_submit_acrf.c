/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit/acrf: checks and completes the resiliency policy of each job.
 *
 * SPANK carries the --acrf-* options here in spank_job_env. What is decided
 * goes back into the job in three places: a token in spank_job_env, which is
 * saved with the job and which no user can change; the same token in
 * admin_comment, for people and for acrf-healthd; and, for batch jobs,
 * ACRF_* variables in the environment. From a job that neither asks for
 * anything nor gets anything by the site's policy it only takes away such
 * variables, which come from the submitter's own job.
 */
#include "plugins/job_submit_acrf/follow.h"
#include "plugins/job_submit_acrf/history.h"
#include "plugins/job_submit_acrf/losses.h"
#include "plugins/job_submit_acrf/release.h"
#include "plugins/job_submit_acrf/site.h"

#include "plugins/bridge/policy_bridge.h"
#include "plugins/policy_token.h"

#define EXPORT __attribute__((visibility("default")))
#define OPTION_PREFIX "_SLURM_SPANK_OPTION_acrf_acrf_"
#define SIGNAL_SHARE 10		/* of the time limit: 1/N at most */

EXPORT const char plugin_name[] = "ACRF job submit plugin";
EXPORT const char plugin_type[] = "job_submit/acrf";
EXPORT const uint32_t plugin_version = SLURM_VERSION_NUMBER;

/* Variables that ACRF alone gives to a job; a submitter's own would mislead */
static const char *const given_variables[] = {
	"ACRF_JOB_POLICY", "ACRF_WORKLOAD", "ACRF_CHECKPOINT_DIR",
	"ACRF_CHECKPOINT_FORMAT", "ACRF_CHECKPOINT_INTERVAL",
	"ACRF_RESUME_FROM", "ACRF_RESTART_COUNT", "ACRF_RANK_ORDER",
	"ACRF_FENCE",
};

EXPORT int init(void)
{
	if (site_open())
		return SLURM_ERROR;
	history_open();
	/* Without the thread jobs wait for Slurm's own delay: no reason to fail */
	(void) release_thread_start();
	return SLURM_SUCCESS;
}

EXPORT int fini(void)
{
	release_thread_stop();
	site_close();
	return SLURM_SUCCESS;
}

static bool _names(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return !xstrncmp(entry, name, len) && (entry[len] == '=');
}

/* SPANK writes an option's name with '_' for each '-' */
static bool _is_option(const char *entry, const char *option)
{
	const char *name = entry + strlen(OPTION_PREFIX);

	if (xstrncmp(entry, OPTION_PREFIX, strlen(OPTION_PREFIX)))
		return false;
	for (; *option; option++, name++)
		if (*name != ((*option == '-') ? '_' : *option))
			return false;
	return *name == '=';
}

static const char *_option_value(job_desc_msg_t *job_desc, const char *option)
{
	for (uint32_t i = 0; i < job_desc->spank_job_env_size; i++)
		if (_is_option(job_desc->spank_job_env[i], option))
			return strchr(job_desc->spank_job_env[i], '=') + 1;
	return NULL;
}

static void _append(char ***array, uint32_t *size, char *entry)
{
	xrealloc(*array, (*size + 2) * sizeof(char *));
	(*array)[(*size)++] = entry;
	(*array)[*size] = NULL;
}

static void _remove(char **array, uint32_t *size, const char *name)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *size; i++) {
		if (_names(array[i], name))
			xfree(array[i]);
		else
			array[kept++] = array[i];
	}
	if (array && (kept < *size))
		array[kept] = NULL;
	*size = kept;
}

static void _append_word(char **text, const char *word)
{
	xstrfmtcat(*text, "%s%s", (*text && **text) ? " " : "", word);
}

static void _record_token(job_desc_msg_t *job_desc, const char *token)
{
	_append(&job_desc->spank_job_env, &job_desc->spank_job_env_size,
		xstrdup_printf(ACRF_POLICY_ENV "%s", token));
	_append_word(&job_desc->admin_comment, token);
}

static void _clean_inherited(job_desc_msg_t *job_desc)
{
	/* A token that a client put there itself would be a forged one */
	_remove(job_desc->spank_job_env, &job_desc->spank_job_env_size,
		"ACRF_POLICY");
	for (size_t i = 0; i < ARRAY_SIZE(given_variables); i++)
		_remove(job_desc->environment, &job_desc->env_size,
			given_variables[i]);
}

static void _give(job_desc_msg_t *job_desc, const char *name,
		  const char *value)
{
	if (value && job_desc->environment)
		_append(&job_desc->environment, &job_desc->env_size,
			xstrdup_printf("%s=%s", name, value));
}

static void _set_signal(job_desc_msg_t *job_desc, const acrf_job_t *job,
			const acrf_policy_t *policy)
{
	if (!policy->signal || job_desc->warn_signal ||
	    (job->time_limit_s < (int64_t) policy->signal_time_s * SIGNAL_SHARE))
		return;
	job_desc->warn_signal = policy->signal;
	job_desc->warn_time = policy->signal_time_s;
}

static void _apply(job_desc_msg_t *job_desc, const acrf_job_t *job,
		   const acrf_policy_t *policy)
{
	_record_token(job_desc, policy->token);
	if (policy->requeue)
		job_desc->requeue = 1;
	if (policy->append_output && !job_desc->open_mode)
		job_desc->open_mode = OPEN_MODE_APPEND;
	_set_signal(job_desc, job, policy);
	_give(job_desc, "ACRF_JOB_POLICY", policy->policy);
	_give(job_desc, "ACRF_WORKLOAD", policy->workload);
	_give(job_desc, "ACRF_CHECKPOINT_DIR", policy->checkpoint_dir);
	_give(job_desc, "ACRF_CHECKPOINT_FORMAT", policy->checkpoint_format);
	if (policy->interval_s && policy->checkpoint_dir) {
		char *seconds = xstrdup_printf("%"PRId64, policy->interval_s);

		_give(job_desc, "ACRF_CHECKPOINT_INTERVAL", seconds);
		xfree(seconds);
	}
}

/* What the partitions give to jobs that don't say, the longest of them */
static uint32_t _default_minutes(const char *partitions)
{
	char *names = xstrdup(partitions), *save = NULL;
	uint32_t longest = 0;

	for (char *name = names ? strtok_r(names, ",", &save) : NULL; name;
	     name = strtok_r(NULL, ",", &save)) {
		part_record_t *part_ptr = find_part_record(name);
		uint32_t minutes = INFINITE;

		if (part_ptr)
			minutes = (part_ptr->default_time != NO_VAL) ?
				  part_ptr->default_time : part_ptr->max_time;
		longest = MAX(longest, minutes); /* INFINITE is the largest */
	}
	xfree(names);
	return longest;
}

/* 0: no limit */
static int64_t _time_limit_s(uint32_t minutes, const char *partitions)
{
	if (minutes == NO_VAL)
		minutes = _default_minutes(partitions);
	if ((minutes == NO_VAL) || (minutes == INFINITE))
		return 0;
	return (int64_t) minutes * 60;
}

static acrf_job_t _submitted(job_desc_msg_t *job_desc)
{
	acrf_job_t job = {
		.partition = job_desc->partition ? job_desc->partition :
						   default_part_name,
		.account = job_desc->account,
		.qos = job_desc->qos,
		.tres_per_job = job_desc->tres_per_job,
		.tres_per_node = job_desc->tres_per_node,
		.tres_per_task = job_desc->tres_per_task,
		.array = job_desc->array_inx,
		.uid = job_desc->user_id,
		.is_batch = job_desc->script != NULL,
		.is_het = job_desc->het_job_offset != NO_VAL,
		.refuses_requeue = (job_desc->requeue == 0),
	};

	if (job_desc->min_nodes != NO_VAL)
		job.nodes = job_desc->min_nodes;
	if (job_desc->num_tasks != NO_VAL)
		job.tasks = job_desc->num_tasks;
	job.time_limit_s = _time_limit_s(job_desc->time_limit, job.partition);
	history_get(&job.failures, &job.node_days);
	return job;
}

static acrf_job_t _recorded(job_record_t *job_ptr)
{
	return (acrf_job_t) {
		.partition = job_ptr->partition,
		.account = job_ptr->account,
		.qos = job_ptr->qos_ptr ? job_ptr->qos_ptr->name : NULL,
		.tres_per_job = job_ptr->tres_per_job,
		.tres_per_node = job_ptr->tres_per_node,
		.tres_per_task = job_ptr->tres_per_task,
		.uid = job_ptr->user_id,
		.nodes = job_ptr->details ? job_ptr->details->min_nodes : 1,
		.tasks = job_ptr->details ? job_ptr->details->num_tasks : 0,
		.time_limit_s = _time_limit_s(job_ptr->time_limit,
					      job_ptr->partition),
		.is_batch = job_ptr->batch_flag,
	};
}

typedef struct {
	const acrf_job_t *job;
	int64_t of_user, of_account;
} usage_t;

static int _add_gpus(void *x, void *arg)
{
	job_record_t *job_ptr = x;
	usage_t *usage = arg;
	bool same_account;
	acrf_job_t job;
	int64_t gpus;

	if (IS_JOB_FINISHED(job_ptr))
		return 0;
	same_account = usage->job->account &&
		       !xstrcasecmp(job_ptr->account, usage->job->account);
	if ((job_ptr->user_id != usage->job->uid) && !same_account)
		return 0;
	job = _recorded(job_ptr);
	gpus = acrf_job_gpus(&job);
	if (job_ptr->array_recs)	/* tasks that are pending still */
		gpus *= MAX(job_ptr->array_recs->task_cnt, 1);
	if (job_ptr->user_id == usage->job->uid)
		usage->of_user += gpus;
	if (same_account)
		usage->of_account += gpus;
	return 0;
}

/* RET 0, or -1 with a sentence */
static int _check_quota(const acrf_site_t *site, const acrf_job_t *job,
			const char *token, char *refusal, size_t size)
{
	usage_t usage = { .job = job };

	list_for_each(job_list, _add_gpus, &usage);
	return acrf_check_quota(site, job, token, usage.of_user,
				usage.of_account, refusal, size);
}

static int _refuse(uint32_t uid, const char *refusal, char **err_msg)
{
	info("job_submit/acrf: uid %u: refused: %s", uid, refusal);
	if (err_msg)
		*err_msg = xstrdup(refusal);
	return SLURM_ERROR;
}

static int _submit(job_desc_msg_t *job_desc, uint32_t submit_uid,
		   char **err_msg)
{
	const char *values[ACRF_OPTION_CNT];
	acrf_job_t job = _submitted(job_desc);
	const acrf_site_t *site;
	acrf_policy_t policy;
	char refusal[1024] = "";
	int rc = SLURM_SUCCESS;

	_clean_inherited(job_desc);
	/* scrontab's jobs come back by themselves, at their own times */
	if (job_desc->bitflags & CRON_JOB)
		return SLURM_SUCCESS;
	for (int i = 0; i < ACRF_OPTION_CNT; i++)
		values[i] = _option_value(job_desc, acrf_option(i).name);
	if (!(site = site_lock())) {
		site_unlock();
		return SLURM_SUCCESS;
	}
	if (acrf_policy_resolve(site, &job, values, &policy))
		rc = _refuse(submit_uid, policy.refusal, err_msg);
	else if (policy.counts_gpus &&
		 _check_quota(site, &job, policy.token, refusal,
			      sizeof(refusal)))
		rc = _refuse(submit_uid, refusal, err_msg);
	else if (policy.applies)
		_apply(job_desc, &job, &policy);
	site_unlock();
	acrf_policy_free(&policy);
	return rc;
}

EXPORT int job_submit(job_desc_msg_t *job_desc, uint32_t submit_uid,
		      char **err_msg)
{
	struct timespec start, end;
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &start);
	rc = _submit(job_desc, submit_uid, err_msg);
	clock_gettime(CLOCK_MONOTONIC, &end);
	debug("job_submit/acrf: took %.1f us",
	      ((end.tv_sec - start.tv_sec) * 1e6) +
	      ((end.tv_nsec - start.tv_nsec) / 1e3));
	return rc;
}

/* The job as it would be after the change */
static acrf_job_t _changed(job_desc_msg_t *job_desc, job_record_t *job_ptr)
{
	acrf_job_t job = _recorded(job_ptr);

	if (job_desc->partition)
		job.partition = job_desc->partition;
	if (job_desc->account)
		job.account = job_desc->account;
	if (job_desc->qos)
		job.qos = job_desc->qos;
	if (job_desc->tres_per_job)
		job.tres_per_job = job_desc->tres_per_job;
	if (job_desc->tres_per_node)
		job.tres_per_node = job_desc->tres_per_node;
	if (job_desc->tres_per_task)
		job.tres_per_task = job_desc->tres_per_task;
	if (job_desc->min_nodes != NO_VAL)
		job.nodes = job_desc->min_nodes;
	if (job_desc->num_tasks != NO_VAL)
		job.tasks = job_desc->num_tasks;
	if (job_desc->time_limit != NO_VAL)
		job.time_limit_s = _time_limit_s(job_desc->time_limit,
						 job.partition);
	return job;
}

static int _check_change(job_desc_msg_t *job_desc, job_record_t *job_ptr,
			 uint32_t submit_uid, char **err_msg)
{
	acrf_job_t before = _recorded(job_ptr);
	acrf_job_t after = _changed(job_desc, job_ptr);
	char refusal[1024] = "";
	const acrf_site_t *site;
	int rc = 0;

	if (validate_operator(submit_uid))
		return SLURM_SUCCESS;
	if ((site = site_lock()))
		rc = acrf_check_change(site, &before, &after, policy_token(job_ptr),
				       job_desc->requeue != 0, refusal,
				       sizeof(refusal));
	site_unlock();
	if (!rc)
		return SLURM_SUCCESS;
	info("job_submit/acrf: uid %u: change of %pJ refused: %s", submit_uid,
	     job_ptr, refusal);
	if (err_msg)
		*err_msg = xstrdup(refusal);
	return ESLURM_ACCESS_DENIED;
}

/* An admin's new comment replaces the old one, but not ACRF's words in it */
static void _keep_words(job_desc_msg_t *job_desc, job_record_t *job_ptr)
{
	static const char *const prefixes[] = {
		"acrf:policy=", "acrf-avoid:", "acrf-requeues:",
		"acrf-runs:", "acrf-verdicts:", ACRF_LOST_WORD,
	};
	char *words, *save = NULL;

	if (!job_desc->admin_comment)
		return;
	words = xstrdup(job_ptr->admin_comment);
	for (char *word = words ? strtok_r(words, " ", &save) : NULL; word;
	     word = strtok_r(NULL, " ", &save))
		for (int i = 0; i < ARRAY_SIZE(prefixes); i++)
			if (!xstrncmp(word, prefixes[i], strlen(prefixes[i])) &&
			    !xstrstr(job_desc->admin_comment, prefixes[i]))
				_append_word(&job_desc->admin_comment, word);
	xfree(words);
}

EXPORT int job_modify(job_desc_msg_t *job_desc, job_record_t *job_ptr,
		      ACRF_JOB_MODIFY_LAST(uint32_t submit_uid, char **err_msg))
{
#if ACRF_SLURM_22_05
	char **err_msg = NULL;	/* the user sees no reason; the log has it */
#endif

	_keep_words(job_desc, job_ptr);
	return _check_change(job_desc, job_ptr, submit_uid, err_msg);
}
