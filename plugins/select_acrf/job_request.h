/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a job asks for, in the placement engine's terms. */
#ifndef ACRF_SELECT_JOB_REQUEST_H
#define ACRF_SELECT_JOB_REQUEST_H

#include "plugins/slurm_compat.h"

#include "plugins/bridge/place_bridge.h"

/*
 * RET true when the request is one that the engine can plan for; otherwise
 * cons_tres alone places the job. The numbers of nodes are those given to
 * select_p_job_test().
 */
extern bool job_request(job_record_t *job_ptr, uint32_t min_nodes,
			uint32_t max_nodes, uint32_t req_nodes,
			const acrf_place_site_t *site,
			acrf_request_t *request);

/* Names of nodes that a job is to keep off, in its admin comment */
#define AVOID_WORD "acrf-avoid:"

/* Bits of the nodes on which the job died or failed before; NULL: none */
extern bitstr_t *job_avoided_nodes(job_record_t *job_ptr);

/*
 * Bits of the nodes that other tasks of the job's array run on, when they are
 * to be spread; NULL: none. Needs the job read lock
 */
extern bitstr_t *job_siblings(job_record_t *job_ptr,
			      const acrf_request_t *request);

/* A job loses its nodes: if ACRF or Slurm took one out of service, note it */
extern void job_note_guilty_nodes(job_record_t *job_ptr);

#endif
