/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit/acrf: checks and completes the resiliency policy of each job.
 *
 * SPANK carries the --acrf-* options here in spank_job_env. What is decided
 * goes back into the job in three places: a token in spank_job_env, which is
 * saved with the job and which no user can change; the same token in
 * admin_comment, for people and for acrf-healthd; and, for batch jobs,
 * ACRF_* variables in the environment. From a job without the options it only
 * takes away such variables, which come from the submitter's own job.
 */
#include "plugins/job_submit_acrf/follow.h"
#include "plugins/job_submit_acrf/release.h"

#include "plugins/bridge/policy_bridge.h"

#define EXPORT __attribute__((visibility("default")))
#define OPTION_PREFIX "_SLURM_SPANK_OPTION_acrf_acrf_"

EXPORT const char plugin_name[] = "ACRF job submit plugin";
EXPORT const char plugin_type[] = "job_submit/acrf";
EXPORT const uint32_t plugin_version = SLURM_VERSION_NUMBER;

static acrf_site_t site;

/* Variables that ACRF alone gives to a job; a submitter's own would mislead */
static const char *const given_variables[] = {
	"ACRF_JOB_POLICY", "ACRF_CHECKPOINT_DIR", "ACRF_RESUME_FROM",
	"ACRF_RESTART_COUNT", "ACRF_RANK_ORDER",
};

EXPORT int init(void)
{
	char problem[1024] = "";

	if (acrf_site_load(slurm_conf.slurm_conf, &site, problem,
			   sizeof(problem)))
		error("job_submit/acrf: %s; using the defaults", problem);
	/* Without the thread jobs wait for Slurm's own delay: no reason to fail */
	(void) release_thread_start(site.requeue_kill_wait_s);
	return SLURM_SUCCESS;
}

EXPORT int fini(void)
{
	release_thread_stop();
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

static void _apply(job_desc_msg_t *job_desc, const acrf_policy_t *policy)
{
	_record_token(job_desc, policy->token);
	if (policy->requeue)
		job_desc->requeue = 1;
	if (!job_desc->environment)
		return;
	_append(&job_desc->environment, &job_desc->env_size,
		xstrdup_printf("ACRF_JOB_POLICY=%s", policy->policy));
	if (policy->checkpoint_dir)
		_append(&job_desc->environment, &job_desc->env_size,
			xstrdup_printf("ACRF_CHECKPOINT_DIR=%s",
				       policy->checkpoint_dir));
}

EXPORT int job_submit(job_desc_msg_t *job_desc, uint32_t submit_uid,
		      char **err_msg)
{
	acrf_policy_request_t request = {
		.is_batch = job_desc->script != NULL,
		.is_het = job_desc->het_job_offset != NO_VAL,
		.refuses_requeue = (job_desc->requeue == 0),
		.site_max_requeues = site.max_requeues,
	};
	acrf_policy_t policy;
	bool asked = false;
	int rc = SLURM_SUCCESS;

	_clean_inherited(job_desc);
	for (int i = 0; i < ACRF_OPTION_CNT; i++) {
		request.values[i] = _option_value(job_desc,
						  acrf_option_names[i]);
		asked |= (request.values[i] != NULL);
	}
	if (!asked)
		return SLURM_SUCCESS;

	if (acrf_policy_resolve(&request, &policy)) {
		info("job_submit/acrf: uid %u: refused: %s", submit_uid,
		     policy.refusal);
		if (err_msg)
			*err_msg = xstrdup(policy.refusal);
		rc = SLURM_ERROR;
	} else {
		_apply(job_desc, &policy);
	}
	acrf_policy_free(&policy);
	return rc;
}

/* An admin's new comment replaces the old one, but must not lose the policy */
EXPORT int job_modify(job_desc_msg_t *job_desc, job_record_t *job_ptr,
		      uint32_t submit_uid)
{
	const size_t prefix = strlen(ACRF_POLICY_ENV);

	if (!job_desc->admin_comment ||
	    xstrstr(job_desc->admin_comment, "acrf:policy="))
		return SLURM_SUCCESS;
	for (uint32_t i = 0; i < job_ptr->spank_job_env_size; i++)
		if (!xstrncmp(job_ptr->spank_job_env[i], ACRF_POLICY_ENV,
			      prefix))
			_append_word(&job_desc->admin_comment,
				     job_ptr->spank_job_env[i] + prefix);
	return SLURM_SUCCESS;
}
