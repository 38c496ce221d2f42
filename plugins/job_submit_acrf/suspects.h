/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that hold up a job, or on which it hangs, by the word that the job's
 * own watch writes into its comment (core/accusation.h): for SuspectTime they
 * are suspects, which placement takes last, and what was said is noted in the
 * job's admin comment.
 *
 * The word is a user's. It is heard about the job's own nodes only, and a user
 * makes no more than SuspectsPerUser nodes suspects at a time.
 */
#ifndef ACRF_SUSPECTS_H
#define ACRF_SUSPECTS_H

#include "plugins/slurm_compat.h"

#include "plugins/bridge/policy_bridge.h"

/* Does the job say something new? Needs the job read lock. */
extern bool suspects_named(job_record_t *job_ptr, const acrf_site_t *site);

/* Hear it. Needs job and node write locks. */
extern void suspects_write(job_record_t *job_ptr, const acrf_site_t *site);

/* Forgets what is over; once a minute is enough. Needs the node write lock. */
extern void suspects_expire(void);

#endif
