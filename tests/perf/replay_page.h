/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a replay shares with the slurmctld that it drives, a file that
 * ACRF_REPLAY_PAGE names: the replay writes the page, replay_preload.so reads
 * it and writes the offers.
 */
#ifndef ACRF_PERF_REPLAY_PAGE_H
#define ACRF_PERF_REPLAY_PAGE_H

#include <stdint.h>

typedef struct {
	int64_t now_s;		/* slurmctld's clock; 0: the real one */
	int64_t set_ns;		/* when now_s was set, by CLOCK_MONOTONIC */
	int64_t backfill_turn;	/* changed: backfill shall run once */
} replay_page_t;

#define REPLAY_JOBS 16384
#define REPLAY_NODES 1024

/* By job id: the nodes among which a job's were chosen when it was started */
typedef uint64_t replay_offer_t[REPLAY_NODES / 64];

typedef struct {
	replay_page_t page;
	replay_offer_t offers[REPLAY_JOBS];
} replay_file_t;

#endif
