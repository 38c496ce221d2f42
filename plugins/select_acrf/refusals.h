/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which jobs' plans cons_tres has refused. A refused try comes on top of what
 * plain cons_tres takes. A job that was refused is therefore tried again only
 * when cons_tres has since spent so much on it that the refusal was a small
 * part of that.
 */
#ifndef ACRF_SELECT_REFUSALS_H
#define ACRF_SELECT_REFUSALS_H

#include "plugins/slurm_compat.h"

extern bool refusals_worth_trying(const job_record_t *job_ptr);

/* cons_tres has spent so much time on the job, over all nodes */
extern void refusals_pay(const job_record_t *job_ptr, double spent_us);

/* A plan for the job was refused, after so much time */
extern void refusals_note(const job_record_t *job_ptr, double spent_us);

#endif
