/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/select_acrf/ledger.h"

#include "plugins/select_acrf/gpu_mask.h"
#include "plugins/select_acrf/node_bits.h"

#define MOST_GPUS 64
#define AUDIT_INTERVAL_S 60
/* Nodes looked at again with each decision, in turn: of all, and of those that
 * can't be used as they were last seen, after a restart perhaps all */
#define NODES_PER_DECISION 16
#define FLAGGED_PER_DECISION 256

typedef struct {
	uint32_t cpus;		/* allocated to jobs */
	uint64_t memory;
	int **links;		/* of which `kind` was made */
	int topo_cnt;
	int kind;
	char *comment;		/* of which the health in `nodes` was made */
} extra_t;

static acrf_placer_t *placer;
static bool distrusted;
static bool can_plan;		/* the topology is understood */
static int node_cnt;
static acrf_node_t *nodes;
static extra_t *extras;
static bitstr_t *dirty, *flagged;
static int next_flagged;	/* for FLAGGED_PER_DECISION */
static int next_look;		/* for NODES_PER_DECISION */

extern void ledger_destroy(void)
{
	acrf_placer_destroy(placer);
	placer = NULL;
	next_look = next_flagged = 0;
	for (int i = 0; i < node_cnt; i++)
		xfree(extras[i].comment);
	node_cnt = 0;
	xfree(nodes);
	xfree(extras);
	FREE_NULL_BITMAP(dirty);
	FREE_NULL_BITMAP(flagged);
}

/* A record for each line of gres.conf, which may be about several GPUs */
static bitstr_t *_cores_of(gres_node_state_t *gres_ns, int gpu)
{
	if (!gres_ns->topo_gres_bitmap || !gres_ns->topo_core_bitmap)
		return NULL;
	for (int t = 0; t < gres_ns->topo_cnt; t++) {
		bitstr_t *gpus = gres_ns->topo_gres_bitmap[t];

		if (gpus && (gpu < bit_size(gpus)) && bit_test(gpus, gpu))
			return gres_ns->topo_core_bitmap[t];
	}
	return NULL;
}

static int _link_weight(gres_node_state_t *gres_ns, int a, int b)
{
	bitstr_t *near_a = _cores_of(gres_ns, a), *near_b = _cores_of(gres_ns, b);
	int weight = 0;

	if (gres_ns->links_cnt && (a < gres_ns->link_len) &&
	    (b < gres_ns->link_len) && gres_ns->links_cnt[a])
		weight = 16 * MAX(gres_ns->links_cnt[a][b], 0);
	if (near_a && near_b && bit_equal(near_a, near_b))
		weight++;
	return weight;
}

static int _kind_of(gres_node_state_t *gres_ns, int gpus, extra_t *extra)
{
	int *weights;

	if ((extra->kind >= 0) && (extra->links == gres_ns->links_cnt) &&
	    (extra->topo_cnt == gres_ns->topo_cnt))
		return extra->kind;
	weights = xcalloc(gpus * gpus, sizeof(int));
	for (int a = 0; a < gpus; a++)
		for (int b = 0; b < gpus; b++)
			weights[(a * gpus) + b] = _link_weight(gres_ns, a, b);
	extra->kind = MAX(acrf_placer_add_kind(placer, gpus, weights), 0);
	extra->links = gres_ns->links_cnt;
	extra->topo_cnt = gres_ns->topo_cnt;
	xfree(weights);
	return extra->kind;
}

/* The model, when all GPUs of the node are of one. RET false when not */
static bool _one_type(gres_node_state_t *gres_ns, uint32_t *type)
{
	*type = gres_ns->topo_cnt ? gres_ns->topo_type_id[0] : 0;
	for (int t = 1; t < gres_ns->topo_cnt; t++)
		if (gres_ns->topo_type_id[t] != *type)
			return false;
	return true;
}

/* The first `size` bits, at most 64 */
static uint64_t _bits(bitstr_t *bitmap, int size)
{
	uint64_t bits;

	if (!bitmap || !bit_size(bitmap))
		return 0;
	bits = (uint64_t) bitmap[BITSTR_OVERHEAD];
	size = MIN(size, bit_size(bitmap));
	return (size >= MOST_GPUS) ? bits : bits & (((uint64_t) 1 << size) - 1);
}

static void _read_gpus(node_record_t *node_ptr, acrf_node_t *node,
		       extra_t *extra)
{
	gres_node_state_t *gres_ns = gpus_of_node(node_ptr), *sharers;
	uint64_t busy;
	int size;

	if (!gres_ns || !gres_ns->gres_cnt_config)
		return;
	/*
	 * A node that has not registered since slurmctld started. Whether its
	 * bitmap is there (from the saved state, or a job's) or not, types and
	 * topology are not: cons_tres would give a job none of its GPUs, or
	 * leave the counts by type wrong for good.
	 */
	node->unready = (gres_ns->gres_cnt_found == NO_VAL64) &&
			!IS_NODE_CLOUD(node_ptr);
	if (node->unready || !gres_ns->gres_bit_alloc)
		return;
	size = MIN(bit_size(gres_ns->gres_bit_alloc),
		   gres_ns->gres_cnt_avail);
	if ((size <= 0) || (size > MOST_GPUS) || gres_ns->no_consume)
		return;
	busy = _bits(gres_ns->gres_bit_alloc, size);
	if (__builtin_popcountll(busy) != gres_ns->gres_cnt_alloc)
		return;		/* not understood: left to cons_tres */
	if ((sharers = acrf_sharers(gres_ns)))
		busy |= _bits(sharers->gres_bit_alloc, size);
	node->gpus = (size == MOST_GPUS) ? ~(uint64_t) 0 :
					   ((uint64_t) 1 << size) - 1;
	node->free = node->gpus & ~busy;
	node->plannable = _one_type(gres_ns, &node->type);
	node->kind = _kind_of(gres_ns, size, extra);
}

/* The token is a matter of the comment alone: read only when that changes */
static void _read_health(const char *comment, extra_t *extra,
			 const acrf_node_t *before, acrf_node_t *node)
{
	if (xstrcmp(comment, extra->comment)) {
		xfree(extra->comment);
		extra->comment = xstrdup(comment);
		(void) acrf_node_health(comment, node);
		return;
	}
	node->quarantined = before->quarantined;
	node->suspect = before->suspect;
	node->risk = before->risk;
	node->probation = before->probation;
}

static void _read_node(int i, acrf_node_t *node)
{
	node_record_t *node_ptr = node_record_table_ptr[i];
	extra_t *extra = &extras[i];

	memset(node, 0, sizeof(*node));
	if (!node_ptr) {
		xfree(extra->comment);
		return;
	}
	node->cpus = node_ptr->cpus_efctv ? node_ptr->cpus_efctv :
					    node_ptr->cpus;
	node->free_cpus = node->cpus - MIN(node->cpus, extra->cpus);
	node->memory_mb = node_ptr->real_memory - node_ptr->mem_spec_limit;
	node->free_memory_mb = node->memory_mb -
			       MIN(node->memory_mb, extra->memory);
	node->weight = node_ptr->config_ptr ? node_ptr->config_ptr->weight : 0;
	_read_gpus(node_ptr, node, extra);
	_read_health(node_ptr->comment, extra, &nodes[i], node);
}

static void _set_node(int i, const acrf_node_t *node)
{
	nodes[i] = *node;
	acrf_placer_set_node(placer, i, node);
	/* Also when its GPUs aren't understood: cons_tres still gives them out */
	if (node->quarantined || node->suspect || node->probation ||
	    node->unready)
		bit_set(flagged, i);
	else
		bit_clear(flagged, i);
}

/*
 * The quick looks: at ACRF's token, and at what jobs change. All else changes
 * with the configuration or a registration, and is found in turn by _refresh().
 */
static bool _health_is_the_same(int i)
{
	node_record_t *node_ptr = node_record_table_ptr[i];

	return node_ptr && nodes[i].plannable && !nodes[i].unready &&
	       !xstrcmp(node_ptr->comment, extras[i].comment);
}

static bool _gpus_are_the_same(int i)
{
	gres_node_state_t *gres_ns = gpus_of_node(node_record_table_ptr[i]);

	if (!gres_ns || !gres_ns->gres_bit_alloc || acrf_sharers(gres_ns))
		return false;
	return (_bits(gres_ns->gres_bit_alloc, MOST_GPUS) & nodes[i].gpus) ==
	       (nodes[i].gpus & ~nodes[i].free);
}

/* RET true when the books were right */
static bool _read(int i)
{
	acrf_node_t node;

	_read_node(i, &node);
	if (!memcmp(&node, &nodes[i], sizeof(node)))
		return true;
	_set_node(i, &node);
	return false;
}

extern void ledger_fetch(int i)
{
	if (node_record_table_ptr[i])
		__builtin_prefetch(&node_record_table_ptr[i]->comment);
	__builtin_prefetch(&nodes[i]);
	__builtin_prefetch(&extras[i]);
}

extern bool ledger_check_health(int i)
{
	return _health_is_the_same(i) || _read(i);
}

extern bool ledger_check(int i)
{
	return (_health_is_the_same(i) && _gpus_are_the_same(i)) || _read(i);
}

/* Callback for each node of a job */
typedef void (*on_node_t)(int node, job_resources_t *job, int n, int by);

static void _for_nodes(job_record_t *job_ptr, on_node_t on_node, int by)
{
	job_resources_t *job = job_ptr->job_resrcs;
	int n = 0;

	if (!placer || !job || !job->node_bitmap ||
	    (bit_size(job->node_bitmap) != node_cnt))
		return;
	for_each_set_node(i, job->node_bitmap)
		on_node(i, job, n++, by);
}

static void _count_node(int i, job_resources_t *job, int n, int by)
{
	uint64_t cpus = job->cpus ? job->cpus[n] : 0;
	uint64_t memory = job->memory_allocated ? job->memory_allocated[n] : 0;

	if (by > 0) {
		extras[i].cpus += cpus;
		extras[i].memory += memory;
	} else {
		extras[i].cpus -= MIN(extras[i].cpus, cpus);
		extras[i].memory -= MIN(extras[i].memory, memory);
	}
	bit_set(dirty, i);
}

static void _mark_node(int i, job_resources_t *job, int n, int by)
{
	bit_set(dirty, i);
}

extern void ledger_job(job_record_t *job_ptr, int by)
{
	_for_nodes(job_ptr, _count_node, by);
}

extern void ledger_mark_job(job_record_t *job_ptr)
{
	_for_nodes(job_ptr, _mark_node, 0);
}

extern void ledger_job_node(job_record_t *job_ptr, node_record_t *node_ptr)
{
	job_resources_t *job = job_ptr->job_resrcs;
	int n;

	if (!placer || !job || !job->node_bitmap ||
	    (bit_size(job->node_bitmap) != node_cnt) ||
	    !bit_test(job->node_bitmap, node_ptr->index))
		return;
	n = bit_set_count_range(job->node_bitmap, 0, node_ptr->index);
	_count_node(node_ptr->index, job, n, -1);
}

static int _count_job(void *x, void *arg)
{
	job_record_t *job_ptr = x;

	if (IS_JOB_RUNNING(job_ptr) || IS_JOB_SUSPENDED(job_ptr))
		ledger_job(job_ptr, 1);
	return 0;
}

extern void ledger_audit(void)
{
	for (int i = 0; i < node_cnt; i++) {
		extras[i].cpus = 0;
		extras[i].memory = 0;
	}
	list_for_each(job_list, _count_job, NULL);
	for (int i = 0; i < node_cnt; i++)
		(void) _read(i);
	bit_clear_all(dirty);
	distrusted = false;
}

extern void ledger_audit_when_due(void)
{
	static time_t audited;
	time_t now = time(NULL);

	if (now - audited < AUDIT_INTERVAL_S)
		return;
	audited = now;
	ledger_audit();
}

extern void ledger_create(char *problem, size_t size)
{
	const char **names = xcalloc(node_record_count, sizeof(char *));

	ledger_destroy();
	for (int i = 0; i < node_record_count; i++)
		names[i] = node_record_table_ptr[i] ?
			   node_record_table_ptr[i]->name : "";
	placer = acrf_placer_create(names, node_record_count,
				    slurm_conf.slurm_conf, problem, size);
	xfree(names);
	can_plan = placer && !*problem;
	if (!placer)
		return;
	node_cnt = node_record_count;
	nodes = xcalloc(node_cnt, sizeof(acrf_node_t));
	extras = xcalloc(node_cnt, sizeof(extra_t));
	for (int i = 0; i < node_cnt; i++)
		extras[i].kind = -1;
	dirty = bit_alloc(node_cnt);
	flagged = bit_alloc(node_cnt);
	distrusted = true;
}

extern void ledger_distrust(void)
{
	distrusted = true;
}

static void _refresh_flagged(void)
{
	for (int looks = 0; looks < FLAGGED_PER_DECISION; looks++) {
		int i = next_set_node(flagged, next_flagged);

		next_flagged = i + 1;
		if (i < 0)	/* the end: the first next time */
			return;
		(void) ledger_check_health(i);
	}
}

extern void ledger_settle(void)
{
	if (!placer || distrusted || (node_cnt != node_record_count))
		return;
	for_each_set_node(i, dirty)
		(void) _read(i);
	bit_clear_all(dirty);
}

static void _refresh(void)
{
	ledger_settle();
	_refresh_flagged();
	for (int i = 0; i < MIN(NODES_PER_DECISION, node_cnt); i++) {
		next_look = (next_look + 1) % node_cnt;
		(void) _read(next_look);
	}
}

extern void ledger_find_tokens(bitstr_t *bitmap)
{
	for_each_set_node(i, bitmap)
		if (node_record_table_ptr[i] &&
		    (node_record_table_ptr[i]->comment || bit_test(flagged, i)))
			(void) _read(i);
}

extern acrf_placer_t *ledger_open(void)
{
	if (!placer || (node_cnt != node_record_count))
		return NULL;
	if (distrusted)
		ledger_audit();
	else
		_refresh();
	return placer;
}

extern bool ledger_can_plan(void)
{
	return can_plan;
}

extern const acrf_node_t *ledger_node(int node)
{
	return &nodes[node];
}

extern bitstr_t *ledger_flagged(void)
{
	return flagged;
}
