/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page that a replay shares with the slurmctld that it drives, a file that
 * ACRF_REPLAY_PAGE names: the replay writes it, replay_preload.so reads it.
 */
#ifndef ACRF_PERF_REPLAY_PAGE_H
#define ACRF_PERF_REPLAY_PAGE_H

#include <stdint.h>

typedef struct {
	int64_t now_s;		/* slurmctld's clock; 0: the real one */
	int64_t set_ns;		/* when now_s was set, by CLOCK_MONOTONIC */
	int64_t backfill_turn;	/* changed: backfill shall run once */
} replay_page_t;

#endif
