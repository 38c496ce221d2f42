/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/select_acrf/place.h"

#include <time.h>

#include "plugins/bridge/place_bridge.h"
#include "plugins/bridge/policy_bridge.h"
#include "plugins/select_acrf/decisions.h"
#include "plugins/select_acrf/delegate.h"
#include "plugins/select_acrf/gpu_mask.h"
#include "plugins/select_acrf/job_request.h"
#include "plugins/select_acrf/ledger.h"

#define COMPLAIN_INTERVAL_S 60
#define PLAN_BUDGET_US 10000.0	/* a slower engine is left alone for a while */
#define PLAN_PAUSE_S 60
#define PLAN_ROUNDS 4		/* when nodes turn out to have changed */
#define AUDIT_INTERVAL_S 60
#define LARGE_SHARE 20		/* of the candidates, 1/N: too many to try twice */
#define REFUSED_JOBS 64		/* remembered */
#define CHEAP_REFUSAL_US 1000.0
#define REFUSAL_SHARE 40	/* refusals may take 1/N of cons_tres' time */

static acrf_place_site_t site;
static time_t paused_until, audited;
static struct {
	uint32_t job_id;
	double debt_us;		/* cons_tres' time until the next try */
} refused_jobs[REFUSED_JOBS];
static const char *const shape_names[] = { "pack", "spread", "block", "any" };

extern void place_configure(void)
{
	acrf_place_site_t loaded;
	char problem[1024] = "";
	char *kept = xstrdup_printf("%s/" ACRF_KEPT_CONF,
				    slurm_conf.state_save_location);

	/* A faulty file leaves in force what was: GPUs stay in quarantine */
	if (!acrf_place_site_load(slurm_conf.slurm_conf, kept, &loaded,
				  problem, sizeof(problem)))
		site = loaded;
	xfree(kept);
	if (*problem)
		error("select/acrf: %s; %s", problem, site.placement ?
		      "going on with the settings as they were" :
		      "leaving all jobs to cons_tres");
	problem[0] = '\0';
	ledger_create(problem, sizeof(problem));
	if (*problem)
		error("select/acrf: %s; leaving all jobs to cons_tres",
		      problem);
}

static void _complain(const char *what)
{
	static time_t said;
	static int unsaid;
	time_t now = time(NULL);

	unsaid++;
	if (now - said < COMPLAIN_INTERVAL_S)
		return;
	error("select/acrf: %s; plain cons_tres decides (%d times since last said)",
	      what, unsaid);
	said = now;
	unsaid = 0;
}

static double _us_since(const struct timespec *start, clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return ((now.tv_sec - start->tv_sec) * 1e6) +
	       ((now.tv_nsec - start->tv_nsec) / 1e3);
}

/* What a refused test may leave changed in the job */
typedef struct {
	uint64_t pn_min_memory, bit_flags;
	uint32_t min_cpus, total_cpus;
	time_t start_time;
	bool best_switch;
} job_state_t;

static job_state_t _save_job(job_record_t *job_ptr)
{
	return (job_state_t) {
		.pn_min_memory = job_ptr->details->pn_min_memory,
		.bit_flags = job_ptr->bit_flags,
		.min_cpus = job_ptr->details->min_cpus,
		.total_cpus = job_ptr->total_cpus,
		.start_time = job_ptr->start_time,
		.best_switch = job_ptr->best_switch,
	};
}

static void _restore_job(job_record_t *job_ptr, const job_state_t *state)
{
	job_ptr->details->pn_min_memory = state->pn_min_memory;
	job_ptr->bit_flags = state->bit_flags;
	job_ptr->details->min_cpus = state->min_cpus;
	job_ptr->total_cpus = state->total_cpus;
	job_ptr->start_time = state->start_time;
	job_ptr->best_switch = state->best_switch;
}

static int _judge(const job_test_t *test, bitstr_t *bitmap,
		  List preemptee_candidates, decision_t *decision)
{
	bool spread = acrf_cannot_be_spread(test->job_ptr);
	struct timespec start;
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &start);
	if (spread)	/* only a preference */
		test->job_ptr->bit_flags &= ~SPREAD_JOB;
	rc = delegate.job_test(test->job_ptr, bitmap, test->min_nodes,
			       test->max_nodes, test->req_nodes, test->mode,
			       preemptee_candidates, test->preemptee_job_list,
			       ACRF_JOB_TEST_LAST(test->excluded,
						  test->will_run));
	if (spread)
		test->job_ptr->bit_flags |= SPREAD_JOB;
	decision->delegate_us += _us_since(&start, CLOCK_MONOTONIC);
	return rc;
}

/* --- All nodes, as plain Slurm would --------------------------------------*/

static bool _takes_gpus(job_record_t *job_ptr)
{
	return job_ptr->gres_list_req ||
	       (job_ptr->details && acrf_takes_whole_nodes(job_ptr));
}

/* Hide what is in quarantine, and leave out nodes that can't be judged yet */
static void _hide_flagged(const job_test_t *test, gpu_mask_t *mask)
{
	bitstr_t *flagged = ledger_flagged();
	int last = bit_fls(flagged);

	for (int i = bit_ffs(flagged); (i >= 0) && (i <= last); i++) {
		const acrf_node_t *node = ledger_node(i);
		gres_node_state_t *gres_ns;

		if (!bit_test(flagged, i) || !bit_test(test->bitmap, i))
			continue;
		/* An exclusive job would get all GPUs of the node */
		if (node->unready || (node->quarantined &&
		    acrf_takes_whole_nodes(test->job_ptr)))
			bit_clear(test->bitmap, i);
		else if (node->quarantined &&
			 (gres_ns = gpus_of_node(node_record_table_ptr[i])) &&
			 gres_ns->gres_bit_alloc)
			gpu_mask_add(mask, gres_ns, node->quarantined);
	}
}

/* Nodes that the job should only get when nothing else fits; NULL: none */
static bitstr_t *_doubtful(const job_test_t *test, bitstr_t *avoided)
{
	bitstr_t *flagged = ledger_flagged(), *doubtful = NULL;
	int last = bit_fls(flagged);

	if (avoided)
		doubtful = bit_copy(avoided);
	for (int i = bit_ffs(flagged); (i >= 0) && (i <= last); i++) {
		if (!bit_test(flagged, i) || !ledger_node(i)->suspect)
			continue;
		if (!doubtful)
			doubtful = bit_alloc(bit_size(flagged));
		bit_set(doubtful, i);
	}
	if (doubtful && test->job_ptr->details->req_node_bitmap)
		bit_and_not(doubtful, test->job_ptr->details->req_node_bitmap);
	return doubtful;
}

/* A GPU of the node is in quarantine and a job still has it */
static bool _holds_quarantined(int i)
{
	const acrf_node_t *node = ledger_node(i);

	return bit_test(ledger_flagged(), i) &&
	       (node->quarantined & node->gpus & ~node->free);
}

static bool _job_is_in_the_way(job_record_t *job_ptr)
{
	bitstr_t *nodes = job_ptr->node_bitmap;
	int last = nodes ? bit_fls(nodes) : -1;

	for (int i = nodes ? bit_ffs(nodes) : -1; (i >= 0) && (i <= last); i++)
		if (bit_test(nodes, i) && _holds_quarantined(i))
			return true;
	return false;
}

/*
 * Whom the job may preempt. cons_tres simulates the end of those jobs, and a
 * GPU in quarantine would then look free: they would be ended in vain. So jobs
 * on a node with such a GPU are spared until its holder has gone. RET a list
 * for FREE_NULL_LIST(), or NULL when nobody may be preempted
 */
static List _preemptable(const job_test_t *test)
{
	List jobs = NULL;
	ListIterator iter;
	job_record_t *job_ptr;

	if (!test->preemptee_candidates)
		return NULL;
	iter = list_iterator_create(test->preemptee_candidates);
	while ((job_ptr = list_next(iter))) {
		if (_job_is_in_the_way(job_ptr))
			continue;
		if (!jobs)
			jobs = list_create(NULL);
		list_append(jobs, job_ptr);
	}
	list_iterator_destroy(iter);
	return jobs;
}

/*
 * cons_tres has chosen nodes to keep off: see whether it finds others. The
 * first answer is asked for again when it does not.
 */
static int _judge_again(const job_test_t *test, bitstr_t *all,
			bitstr_t *doubtful, List preemptable,
			const job_state_t *before, decision_t *decision)
{
	int rc;

	bit_copybits(test->bitmap, all);
	bit_and_not(test->bitmap, doubtful);
	_restore_job(test->job_ptr, before);
	rc = _judge(test, test->bitmap, NULL, decision);
	if (rc == SLURM_SUCCESS)
		return rc;
	bit_copybits(test->bitmap, all);
	_restore_job(test->job_ptr, before);
	return _judge(test, test->bitmap, preemptable, decision);
}

static int _judge_all(const job_test_t *test, bitstr_t *avoided,
		      decision_t *decision)
{
	gpu_mask_t mask = { 0 };
	bitstr_t *doubtful = NULL, *all = NULL;
	job_state_t before = _save_job(test->job_ptr);
	List preemptable;
	int rc;

	ledger_find_tokens(test->bitmap);
	preemptable = _preemptable(test);
	if (_takes_gpus(test->job_ptr))
		_hide_flagged(test, &mask);
	if ((test->mode == SELECT_MODE_RUN_NOW) &&
	    (doubtful = _doubtful(test, avoided)))
		all = bit_copy(test->bitmap);
	rc = _judge(test, test->bitmap, preemptable, decision);
	if ((rc == SLURM_SUCCESS) && doubtful &&
	    bit_overlap_any(test->bitmap, doubtful) &&
	    !(test->preemptee_job_list && *test->preemptee_job_list))
		rc = _judge_again(test, all, doubtful, preemptable, &before,
				  decision);
	gpu_mask_undo(&mask);
	FREE_NULL_LIST(preemptable);
	FREE_NULL_BITMAP(doubtful);
	FREE_NULL_BITMAP(all);
	return rc;
}

/* --- The plan --------------------------------------------------------------*/

/* A bitmap's words; Slurm's bit i is bit i % 64 of word i / 64 */
static const uint64_t *_words(bitstr_t *bitmap)
{
	return bitmap ? (const uint64_t *) (bitmap + BITSTR_OVERHEAD) : NULL;
}

/* Slurm's own layout of bitmaps, looked at once */
static bool _words_are_understood(void)
{
	static int understood = -1;
	bitstr_t *bitmap;

	if (understood >= 0)
		return understood;
	bitmap = bit_alloc(130);
	bit_set(bitmap, 1);
	bit_set(bitmap, 70);
	bit_set(bitmap, 129);
	understood = (_words(bitmap)[0] == 2) && (_words(bitmap)[1] == 64) &&
		     (_words(bitmap)[2] == 2);
	FREE_NULL_BITMAP(bitmap);
	return understood;
}

/* RET true when the plan's nodes are what the engine thinks they are */
static bool _plan_holds(const acrf_plan_t *plan)
{
	bool holds = true;

	for (int i = 0; i < plan->node_cnt; i++)
		holds &= ledger_check(plan->nodes[i]);
	return holds;
}

static int _plan_once(const job_test_t *test, acrf_placer_t *placer,
		      const acrf_request_t *request, bitstr_t *avoided,
		      acrf_plan_t *plan)
{
	bitstr_t *required = test->job_ptr->details->req_node_bitmap;

	return acrf_placer_plan(placer, request, _words(test->bitmap),
				_words(required),
				request->ever ? NULL : _words(avoided), plan);
}

/* RET true with a plan; false when cons_tres shall look at all nodes */
static bool _plan(const job_test_t *test, acrf_placer_t *placer,
		  const acrf_request_t *request, bitstr_t *avoided,
		  acrf_plan_t *plan, decision_t *decision)
{
	struct timespec start, worked;
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &worked);
	for (int round = 0; round < PLAN_ROUNDS; round++) {
		rc = _plan_once(test, placer, request, avoided, plan);
		if ((rc <= 0) || request->ever || _plan_holds(plan))
			break;
		rc = 0;		/* the books were behind: plan again */
	}
	decision->plan_us = _us_since(&start, CLOCK_MONOTONIC);
	if (rc < 0)
		_complain("the placement engine failed");
	/* Its own work, not what a busy machine makes it wait */
	if (_us_since(&worked, CLOCK_THREAD_CPUTIME_ID) > PLAN_BUDGET_US) {
		paused_until = time(NULL) + PLAN_PAUSE_S;
		_complain("the placement engine took too long");
	}
	return rc > 0;
}

static void _describe(const acrf_plan_t *plan, const acrf_request_t *request,
		      decision_t *decision)
{
	decision->nodes = plan->node_cnt;
	for (int i = 0; i < plan->node_cnt; i++)
		decision->gpus += __builtin_popcountll(plan->gpus[i]);
	decision->cost = plan->cost;
	decision->runner_up = plan->runner_up;
	decision->leaves = plan->leaves;
	decision->pods = plan->pods;
	decision->avoidable = plan->avoidable;
	decision->certified = plan->certified;
	decision->shape = shape_names[request->shape & 3];
	snprintf(decision->summary, sizeof(decision->summary), "%s",
		 plan->summary);
}

/* --- Within the plan ---------------------------------------------------------*/

/* Leave cons_tres only the GPUs of the plan (pin), or only healthy ones */
static void _hide_others(const acrf_plan_t *plan, bool pin, gpu_mask_t *mask)
{
	for (int i = 0; i < plan->node_cnt; i++) {
		const acrf_node_t *node = ledger_node(plan->nodes[i]);
		uint64_t hide = node->quarantined;
		gres_node_state_t *gres_ns;

		if (pin && plan->gpus[i])
			hide |= node->free & ~plan->gpus[i];
		if ((hide & node->free) &&
		    (gres_ns = gpus_of_node(
				node_record_table_ptr[plan->nodes[i]])))
			gpu_mask_add(mask, gres_ns, hide);
	}
}

static int _judge_plan(const job_test_t *test, const acrf_plan_t *plan,
		       const acrf_request_t *request, bool pin,
		       decision_t *decision)
{
	job_record_t *job_ptr = test->job_ptr;
	job_state_t before = _save_job(job_ptr);
	bitstr_t *narrowed = bit_alloc(bit_size(test->bitmap));
	gpu_mask_t mask = { 0 };
	bool topo_optional = false;
	int rc;

	for (int i = 0; i < plan->node_cnt; i++)
		bit_set(narrowed, plan->nodes[i]);
	/* Only an answer "now" is worth having from so few nodes */
	if (test->mode == SELECT_MODE_WILL_RUN)
		job_ptr->bit_flags |= TEST_NOW_ONLY;
	if (!request->ever)
		_hide_others(plan, pin && !request->whole_nodes, &mask);
	if (plan->joined)	/* the switches have been searched */
		topo_optional = delegate_set_topo_optional(true);
	rc = _judge(test, narrowed, NULL, decision);
	if (plan->joined)
		(void) delegate_set_topo_optional(topo_optional);
	gpu_mask_undo(&mask);
	if (rc == SLURM_SUCCESS) {
		job_ptr->bit_flags = before.bit_flags;
		bit_copybits(test->bitmap, narrowed);
	} else {
		_restore_job(job_ptr, &before);
	}
	FREE_NULL_BITMAP(narrowed);
	return rc;
}

/*
 * A refused try comes on top of what plain cons_tres takes. A job that was
 * refused is therefore tried again only when cons_tres has since spent so much
 * on it that the refusal was a small part of that.
 */
static bool _worth_trying(const job_test_t *test)
{
	uint32_t job_id = test->job_ptr->job_id;

	return (refused_jobs[job_id % REFUSED_JOBS].job_id != job_id) ||
	       (refused_jobs[job_id % REFUSED_JOBS].debt_us <= 0);
}

/* cons_tres has spent so much time on the job, over all nodes */
static void _pay_debt(const job_test_t *test, double spent_us)
{
	uint32_t job_id = test->job_ptr->job_id;

	if (refused_jobs[job_id % REFUSED_JOBS].job_id == job_id)
		refused_jobs[job_id % REFUSED_JOBS].debt_us -= spent_us;
}

static void _note_refusal(const job_test_t *test, double spent_us)
{
	uint32_t job_id = test->job_ptr->job_id;
	time_t now = time(NULL);

	if (spent_us > CHEAP_REFUSAL_US) {
		refused_jobs[job_id % REFUSED_JOBS].job_id = job_id;
		refused_jobs[job_id % REFUSED_JOBS].debt_us =
			spent_us * REFUSAL_SHARE;
	}
	if (now - audited < AUDIT_INTERVAL_S)
		return;
	audited = now;
	ledger_audit();
}

/* RET SLURM_SUCCESS when the job got its place within a plan */
static int _try_plan(const job_test_t *test, acrf_placer_t *placer,
		     const acrf_request_t *request, bitstr_t *avoided,
		     decision_t *decision)
{
	acrf_plan_t plan = { 0 };
	int rc;

	decision->outcome = "no-plan";
	if (!_plan(test, placer, request, avoided, &plan, decision))
		return SLURM_ERROR;
	_describe(&plan, request, decision);
	if (!site.enforce) {
		decision->outcome = "observed";
		return SLURM_ERROR;
	}
	decision->outcome = "not-tried";
	if (!_worth_trying(test))
		return SLURM_ERROR;
	decision->outcome = "placed";
	rc = _judge_plan(test, &plan, request, true, decision);
	if ((rc != SLURM_SUCCESS) && !request->ever && !request->whole_nodes &&
	    (plan.node_cnt * LARGE_SHARE < decision->candidates)) {
		decision->outcome = "placed-other-gpus";
		rc = _judge_plan(test, &plan, request, false, decision);
	}
	if (rc != SLURM_SUCCESS) {
		decision->outcome = "refused";
		_note_refusal(test, decision->delegate_us);
	}
	return rc;
}

/*
 * When a node goes down while a requeued job is completing there, slurmctld
 * keeps the list of what the job had. Its next allocation would then be
 * taken for one that the list describes already: its steps would get no GPUs,
 * and at its end its nodes would not get theirs back.
 */
static void _forget_old_gres(const job_test_t *test)
{
	job_record_t *job_ptr = test->job_ptr;

	if (site.enforce && (test->mode == SELECT_MODE_RUN_NOW) &&
	    job_ptr->restart_cnt && IS_JOB_PENDING(job_ptr) &&
	    !IS_JOB_COMPLETING(job_ptr))
		FREE_NULL_LIST(job_ptr->gres_list_alloc);
}

static int _decide(const job_test_t *test, decision_t *decision)
{
	job_record_t *job_ptr = test->job_ptr;
	bitstr_t *avoided = NULL;
	acrf_request_t request;
	acrf_placer_t *placer;
	bool plan;
	int rc = SLURM_ERROR;

	decision->outcome = "off";
	/* 24.11 asks for a place for a reservation with a job without number */
	if (!site.placement || !job_ptr->job_id || !job_ptr->details ||
	    !test->bitmap || !_words_are_understood() ||
	    (bit_size(test->bitmap) != node_record_count))
		return _judge(test, test->bitmap, test->preemptee_candidates,
			      decision);
	if (!(placer = ledger_open())) {
		_complain("no placement engine for this node table and topology");
		decision->outcome = "no-engine";
		return _judge(test, test->bitmap, test->preemptee_candidates,
			      decision);
	}
	_forget_old_gres(test);
	decision->candidates = bit_set_count(test->bitmap);
	decision->outcome = "passed";
	plan = job_request(job_ptr, test->min_nodes, test->max_nodes,
			   test->req_nodes, &site, &request) &&
	       (time(NULL) >= paused_until) && !acrf_is_later(test->will_run);
	request.ever = (test->mode == SELECT_MODE_TEST_ONLY);
	if (!request.ever && job_ptr->restart_cnt)
		avoided = job_avoided_nodes(job_ptr);
	if (plan)
		rc = _try_plan(test, placer, &request, avoided, decision);
	if (rc != SLURM_SUCCESS) {
		double before_us = decision->delegate_us;

		if (request.ever || !site.enforce)
			rc = _judge(test, test->bitmap,
				    test->preemptee_candidates, decision);
		else
			rc = _judge_all(test, avoided, decision);
		_pay_debt(test, decision->delegate_us - before_us);
	}
	FREE_NULL_BITMAP(avoided);
	return rc;
}

extern int place_job_test(const job_test_t *test)
{
	decision_t decision = {
		.job_id = test->job_ptr->job_id,
		.mode = test->mode,
		.shape = "",
		.runner_up = -1,
	};
	struct timespec start;
	int rc;

	clock_gettime(CLOCK_REALTIME, &decision.time);
	clock_gettime(CLOCK_MONOTONIC, &start);
	rc = _decide(test, &decision);
	decision.ok = (rc == SLURM_SUCCESS);
	decision.total_us = _us_since(&start, CLOCK_MONOTONIC);
	decisions_add(&decision);
	return rc;
}
