/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/select_acrf/place.h"

#include <time.h>

#include "plugins/bridge/place_bridge.h"
#include "plugins/bridge/policy_bridge.h"
#include "plugins/complaint.h"
#include "plugins/select_acrf/all_nodes.h"
#include "plugins/select_acrf/decisions.h"
#include "plugins/select_acrf/delegate.h"
#include "plugins/select_acrf/gpu_mask.h"
#include "plugins/select_acrf/job_request.h"
#include "plugins/select_acrf/judge.h"
#include "plugins/select_acrf/ledger.h"
#include "plugins/select_acrf/node_bits.h"
#include "plugins/select_acrf/refusals.h"

#define PLAN_PAUSE_S 60		/* after a plan that took too long */
#define PLAN_ROUNDS 4		/* when nodes turn out to have changed */
#define LARGE_SHARE 20		/* of the candidates, 1/N: too many to try twice */
#define LOOK_AHEAD 16		/* nodes: their records lie all over the memory */

static acrf_place_site_t site;
static time_t paused_until;
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
	static complaint_t complaint;
	int times = complaint_due(&complaint, time(NULL));

	if (times)
		error("select/acrf: %s; plain cons_tres decides (%d times since last said)",
		      what, times);
}

/* --- The plan --------------------------------------------------------------*/

/*
 * RET true when the plan's nodes are what the engine thinks they are. Of nodes
 * that give all their GPUs only the health: that all are free cons_tres sees
 */
static bool _plan_holds(const acrf_plan_t *plan)
{
	bool holds = true;

	for (int i = 0; i < plan->node_cnt; i++) {
		int node = plan->nodes[i];

		if (i + LOOK_AHEAD < plan->node_cnt)
			ledger_fetch(plan->nodes[i + LOOK_AHEAD]);
		holds &= (plan->gpus[i] == ledger_node(node)->gpus) ?
			 ledger_check_health(node) : ledger_check(node);
	}
	return holds;
}

static int _plan_once(const job_test_t *test, acrf_placer_t *placer,
		      const acrf_request_t *request, bitstr_t *avoided,
		      acrf_plan_t *plan)
{
	bitstr_t *required = test->job_ptr->details->req_node_bitmap;

	return acrf_placer_plan(placer, request, node_words(test->bitmap),
				node_words(required),
				request->ever ? NULL : node_words(avoided), plan);
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
	decision->plan_us = us_since(&start, CLOCK_MONOTONIC);
	if (rc < 0)
		_complain("the placement engine failed");
	/* Its own work, not what a busy machine makes it wait */
	if (us_since(&worked, CLOCK_THREAD_CPUTIME_ID) > site.budget_us) {
		paused_until = time(NULL) + PLAN_PAUSE_S;
		_complain("the placement engine took too long");
	}
	return rc > 0;
}

static void _describe(const acrf_plan_t *plan, const acrf_request_t *request,
		      decision_t *decision)
{
	int gpus = 0;

	decision->nodes = plan->node_cnt;
	for (int i = 0; i < plan->node_cnt; i++) {
		if (!i || (plan->gpus[i] != plan->gpus[i - 1]))
			gpus = __builtin_popcountll(plan->gpus[i]);
		decision->gpus += gpus;
	}
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
	job_state_t before = judge_save_job(job_ptr);
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
	rc = judge(test, narrowed, NULL, decision);
	if (plan->joined)
		(void) delegate_set_topo_optional(topo_optional);
	gpu_mask_undo(&mask);
	if (rc == SLURM_SUCCESS) {
		job_ptr->bit_flags = before.bit_flags;
		bit_copybits(test->bitmap, narrowed);
	} else {
		judge_restore_job(job_ptr, &before);
	}
	FREE_NULL_BITMAP(narrowed);
	return rc;
}

/* RET SLURM_SUCCESS when the job got its place within a plan */
static int _try_plan(const job_test_t *test, acrf_placer_t *placer,
		     const acrf_request_t *request, bitstr_t *avoided,
		     decision_t *decision)
{
	acrf_plan_t plan = { 0 };
	int rc;

	decision->outcome = "not-tried";
	if (site.enforce && !refusals_worth_trying(test->job_ptr))
		return SLURM_ERROR;
	decision->outcome = "no-plan";
	if (!_plan(test, placer, request, avoided, &plan, decision))
		return SLURM_ERROR;
	_describe(&plan, request, decision);
	if (!site.enforce) {
		decision->outcome = "observed";
		return SLURM_ERROR;
	}
	decision->outcome = "placed";
	rc = _judge_plan(test, &plan, request, true, decision);
	if ((rc != SLURM_SUCCESS) && !request->ever && !request->whole_nodes &&
	    (plan.node_cnt * LARGE_SHARE < decision->candidates)) {
		decision->outcome = "placed-other-gpus";
		rc = _judge_plan(test, &plan, request, false, decision);
	}
	if (rc != SLURM_SUCCESS) {
		decision->outcome = "refused";
		refusals_note(test->job_ptr, decision->delegate_us);
		ledger_audit_when_due();
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

/* RET the nodes to take only when nothing else fits; NULL: none */
static bitstr_t *_avoided(const job_test_t *test, acrf_placer_t *placer,
			  const acrf_request_t *request)
{
	job_record_t *job_ptr = test->job_ptr;
	bitstr_t *avoided = NULL, *siblings;

	if (request->ever)
		return NULL;
	if (job_ptr->restart_cnt)
		avoided = job_avoided_nodes(job_ptr);
	if ((siblings = job_siblings(job_ptr, request))) {
		if (!avoided)
			avoided = bit_alloc(node_record_count);
		(void) acrf_placer_keep_apart(placer, node_words(test->bitmap),
					      node_words(siblings),
					      (uint64_t *) node_words(avoided));
		FREE_NULL_BITMAP(siblings);
	}
	return avoided;
}

/* cons_tres alone. GPUs in quarantine stay hidden when they are known */
static int _judge_unplanned(const job_test_t *test, bool nodes_are_known,
			    decision_t *decision)
{
	if (nodes_are_known && site.enforce &&
	    (test->mode != SELECT_MODE_TEST_ONLY))
		return judge_all_nodes(test, NULL, decision);
	return judge(test, test->bitmap, test->preemptee_candidates, decision);
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
	    !test->bitmap || !node_words_are_understood() ||
	    (bit_size(test->bitmap) != node_record_count))
		return judge(test, test->bitmap, test->preemptee_candidates,
			      decision);
	placer = ledger_open();
	if (!placer || !ledger_can_plan()) {
		_complain("no placement engine for this node table and topology");
		decision->outcome = "no-engine";
		return _judge_unplanned(test, placer != NULL, decision);
	}
	_forget_old_gres(test);
	decision->candidates = bit_set_count(test->bitmap);
	decision->outcome = "passed";
	plan = job_request(job_ptr, test->min_nodes, test->max_nodes,
			   test->req_nodes, &site, &request) &&
	       (time(NULL) >= paused_until) && !acrf_is_later(test->will_run);
	request.ever = (test->mode == SELECT_MODE_TEST_ONLY);
	avoided = _avoided(test, placer, &request);
	if (plan)
		rc = _try_plan(test, placer, &request, avoided, decision);
	if (rc != SLURM_SUCCESS) {
		decision->refused_us = decision->delegate_us;
		if (request.ever || !site.enforce)
			rc = judge(test, test->bitmap,
				    test->preemptee_candidates, decision);
		else
			rc = judge_all_nodes(test, avoided, decision);
		refusals_pay(test->job_ptr, decision->delegate_us - decision->refused_us);
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
	decision.total_us = us_since(&start, CLOCK_MONOTONIC);
	decisions_add(&decision);
	return rc;
}
