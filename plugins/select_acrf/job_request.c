/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/select_acrf/job_request.h"

#include "plugins/bridge/policy_bridge.h"
#include "plugins/policy_token.h"

#define MOST_GUILTY_NODES 16
#define MEDIUM_RISK 50

/* The job's one request for GPUs; NULL when there is none or more than one */
static gres_job_state_t *_gpu_request(job_record_t *job_ptr)
{
	gres_job_state_t *found = NULL;
	gres_state_t *gres_state;
	ListIterator iter;

	if (!job_ptr->gres_list_req)
		return NULL;
	iter = list_iterator_create(job_ptr->gres_list_req);
	while ((gres_state = list_next(iter))) {
		if (xstrcmp(gres_state->gres_name, "gpu"))
			continue;
		if (found) {
			found = NULL;
			break;
		}
		found = gres_state->gres_data;
	}
	list_iterator_destroy(iter);
	return found;
}

/* Wishes about the shape of the allocation that only cons_tres can judge */
static bool _is_special(job_record_t *job_ptr)
{
	job_details_t *details = job_ptr->details;

	return !details || details->contiguous || details->expanding_jobid ||
	       acrf_is_shaped_by_slurm(job_ptr) ||
	       (details->core_spec != NO_VAL16) ||
	       (details->num_tasks == NO_VAL) ||
	       ((details->task_dist & SLURM_DIST_STATE_BASE) ==
		SLURM_DIST_ARBITRARY) ||
	       (job_ptr->bit_flags & (SPREAD_JOB | USE_MIN_NODES)) ||
	       (slurm_conf.select_type_param & CR_LLN) ||
	       (job_ptr->part_ptr &&
		(job_ptr->part_ptr->flags & PART_FLAG_LLN)) ||
	       xstrcasestr(slurm_conf.topology_param, "dragonfly");
}

static uint16_t _valid16(uint16_t value)
{
	return ((value == NO_VAL16) || (value == INFINITE16)) ? 0 : value;
}

/* RET false when GPUs are asked for in a way that isn't planned for */
static bool _set_gpus(job_record_t *job_ptr, gres_job_state_t *gpus,
		      acrf_request_t *request)
{
	job_details_t *details = job_ptr->details;
	uint32_t tasks_per_node = _valid16(details->ntasks_per_node);

	request->type = gpus->type_id;
	request->gpu_step = 1;
	if (gpus->gres_per_socket || _valid16(gpus->ntasks_per_gres))
		return false;
	if (gpus->gres_per_task) {
		request->gpu_step = gpus->gres_per_task;
		if (!details->num_tasks)
			return false;
		request->total_gpus = details->num_tasks * gpus->gres_per_task;
		if (!tasks_per_node)
			return !gpus->gres_per_node;
		if (details->num_tasks % tasks_per_node)
			return false;
		request->gpus_per_node = tasks_per_node * gpus->gres_per_task;
		request->total_gpus = 0;
		request->min_nodes = MAX(request->min_nodes,
					 details->num_tasks / tasks_per_node);
		request->max_nodes = MAX(request->min_nodes,
					 request->max_nodes);
		return true;
	}
	if (gpus->gres_per_node && gpus->gres_per_job)
		return false;
	request->gpus_per_node = gpus->gres_per_node;
	request->total_gpus = gpus->gres_per_job;
	return request->gpus_per_node || request->total_gpus;
}

static void _set_cpus(job_record_t *job_ptr, gres_job_state_t *gpus,
		      acrf_request_t *request)
{
	job_details_t *details = job_ptr->details;
	uint32_t per_task = MAX(_valid16(details->cpus_per_task), 1);
	uint32_t per_gpu = gpus->cpus_per_gres ? gpus->cpus_per_gres :
						 gpus->def_cpus_per_gres;
	uint32_t per_node = _valid16(details->pn_min_cpus);

	if (!details->overcommit)
		per_node = MAX(per_node,
			       MAX(_valid16(details->ntasks_per_node), 1) *
			       per_task);
	if (request->gpus_per_node)
		per_node = MAX(per_node, per_gpu * request->gpus_per_node);
	request->cpus_per_node = per_node;
	request->total_cpus = MAX(details->min_cpus,
				  per_gpu * request->total_gpus);
	if (details->overcommit)
		request->total_cpus = 1;
}

static void _set_memory(job_record_t *job_ptr, gres_job_state_t *gpus,
			acrf_request_t *request)
{
	uint64_t memory = job_ptr->details->pn_min_memory;
	uint64_t per_gpu = gpus->mem_per_gres ? gpus->mem_per_gres :
						gpus->def_mem_per_gres;

	if (!(slurm_conf.select_type_param & CR_MEMORY))
		return;
	if (per_gpu && !(job_ptr->bit_flags & JOB_MEM_SET))
		memory = per_gpu * MAX(request->gpus_per_node,
				       request->gpu_step);
	else if (memory & MEM_PER_CPU)
		memory = (memory & ~MEM_PER_CPU) *
			 MAX(request->cpus_per_node,
			     request->total_cpus / MAX(request->max_nodes, 1));
	else if (!memory)
		request->all_memory = 1;
	request->memory_per_node_mb = memory;
}

static void _set_wishes(job_record_t *job_ptr, const acrf_place_site_t *site,
			acrf_request_t *request)
{
	uint32_t hours = (job_ptr->time_limit == NO_VAL) ?
			 0 : job_ptr->time_limit / 60;
	int64_t gpus = request->total_gpus +
		       ((int64_t) request->gpus_per_node * request->min_nodes);
	acrf_wishes_t wishes;

	acrf_job_wishes(policy_token(job_ptr), &wishes);
	request->shape = wishes.shape;
	request->risk_limit = wishes.excluded_risk;
	if (!request->risk_limit)
		request->risk_limit = ((gpus >= site->risk_job_gpus) ||
				       (hours >= site->risk_job_hours)) ?
				      MEDIUM_RISK : 101;
}

extern bool job_request(job_record_t *job_ptr, uint32_t min_nodes,
			uint32_t max_nodes, uint32_t req_nodes,
			const acrf_place_site_t *site, acrf_request_t *request)
{
	gres_job_state_t *gpus;

	memset(request, 0, sizeof(*request));
	if (!min_nodes || _is_special(job_ptr) ||
	    !(gpus = _gpu_request(job_ptr)))
		return false;
	request->min_nodes = MIN(min_nodes, INT_MAX);
	request->max_nodes = MIN(MAX(min_nodes, req_nodes), INT_MAX);
	if (!_set_gpus(job_ptr, gpus, request))
		return false;
	if (!request->gpus_per_node)
		request->max_nodes = max_nodes ? MIN(max_nodes, INT_MAX) :
						 INT_MAX;
	request->whole_nodes = acrf_takes_whole_nodes(job_ptr);
	_set_cpus(job_ptr, gpus, request);
	_set_memory(job_ptr, gpus, request);
	_set_wishes(job_ptr, site, request);
	return true;
}

/* The names after AVOID_WORD, up to a blank; xfree() it. NULL: none */
static char *_avoided_names(job_record_t *job_ptr)
{
	const char *word = xstrstr(job_ptr->admin_comment, AVOID_WORD);

	if (!word)
		return NULL;
	word += strlen(AVOID_WORD);
	return xstrndup(word, strcspn(word, " "));
}

/* Set the bits of these nodes; `names` is taken apart */
static void _add_nodes(bitstr_t **nodes, char *names)
{
	char *save = NULL;

	for (char *name = strtok_r(names, ",", &save); name;
	     name = strtok_r(NULL, ",", &save)) {
		node_record_t *node_ptr = find_node_record_no_alias(name);

		if (!node_ptr)
			continue;
		if (!*nodes)
			*nodes = bit_alloc(node_record_count);
		bit_set(*nodes, node_ptr->index);
	}
}

/* RET the nodes that killed the job; NULL: none */
static bitstr_t *_guilty_nodes(job_record_t *job_ptr)
{
	bitstr_t *guilty = NULL;
	char *names = _avoided_names(job_ptr);

	if (names)
		_add_nodes(&guilty, names);
	xfree(names);
	return guilty;
}

extern bitstr_t *job_avoided_nodes(job_record_t *job_ptr)
{
	bitstr_t *avoided = _guilty_nodes(job_ptr);
	char names[1024];

	/* A program that fails elsewhere too is to blame itself */
	if (!acrf_failed_nodes(job_ptr->admin_comment, names, sizeof(names)))
		_add_nodes(&avoided, names);
	return avoided;
}

typedef struct {
	job_record_t *job_ptr;
	bitstr_t *nodes;
} siblings_t;

static int _add_sibling(void *x, void *arg)
{
	job_record_t *job_ptr = x;
	siblings_t *siblings = arg;

	if ((job_ptr->array_job_id != siblings->job_ptr->array_job_id) ||
	    (job_ptr == siblings->job_ptr) || !job_ptr->node_bitmap ||
	    (!IS_JOB_RUNNING(job_ptr) && !IS_JOB_SUSPENDED(job_ptr)) ||
	    (bit_size(job_ptr->node_bitmap) != node_record_count))
		return 0;
	if (!siblings->nodes)
		siblings->nodes = bit_alloc(node_record_count);
	bit_or(siblings->nodes, job_ptr->node_bitmap);
	return 0;
}

extern bitstr_t *job_siblings(job_record_t *job_ptr,
			      const acrf_request_t *request)
{
	siblings_t siblings = { .job_ptr = job_ptr };

	if (job_ptr->array_job_id && (request->shape == ACRF_SHAPE_SPREAD) &&
	    job_list)
		list_for_each(job_list, _add_sibling, &siblings);
	return siblings.nodes;
}

static bool _is_guilty(node_record_t *node_ptr)
{
	return IS_NODE_DOWN(node_ptr) || IS_NODE_FAIL(node_ptr) ||
	       (IS_NODE_DRAIN(node_ptr) &&
		!xstrncmp(node_ptr->reason, "ACRF:", 5));
}

static void _set_avoided(job_record_t *job_ptr, const char *names)
{
	char *comment = job_ptr->admin_comment;
	char *word = xstrstr(comment, AVOID_WORD);

	if (!word) {
		xstrfmtcat(job_ptr->admin_comment, "%s" AVOID_WORD "%s",
			   (comment && *comment) ? " " : "", names);
		return;
	}
	job_ptr->admin_comment =
		xstrdup_printf("%.*s" AVOID_WORD "%s%s",
			       (int) (word - comment), comment, names,
			       word + strcspn(word, " "));
	xfree(comment);
}

extern void job_note_guilty_nodes(job_record_t *job_ptr)
{
	bitstr_t *guilty;
	char *names = NULL;
	int cnt = 0, last;

	if (!job_ptr->node_bitmap || !job_ptr->batch_flag ||
	    !job_ptr->details || !job_ptr->details->requeue ||
	    (bit_size(job_ptr->node_bitmap) != node_record_count))
		return;
	if (!(guilty = _guilty_nodes(job_ptr)))
		guilty = bit_alloc(node_record_count);
	last = bit_fls(job_ptr->node_bitmap);
	for (int i = bit_ffs(job_ptr->node_bitmap); (i >= 0) && (i <= last);
	     i++)
		if (bit_test(job_ptr->node_bitmap, i) &&
		    node_record_table_ptr[i] &&
		    _is_guilty(node_record_table_ptr[i])) {
			bit_set(guilty, i);
			cnt++;
		}
	for (int i = 0, n = 0; cnt && (i < node_record_count) &&
	     (n < MOST_GUILTY_NODES); i++)
		if (bit_test(guilty, i) && node_record_table_ptr[i])
			xstrfmtcat(names, "%s%s", n++ ? "," : "",
				   node_record_table_ptr[i]->name);
	if (names)
		_set_avoided(job_ptr, names);
	xfree(names);
	FREE_NULL_BITMAP(guilty);
}
