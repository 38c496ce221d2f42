/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where replay_preload.so notes what slurmctld offers to jobs. */
#ifndef ACRF_PERF_REPLAY_OFFERS_H
#define ACRF_PERF_REPLAY_OFFERS_H

#include "replay_page.h"

/* REPLAY_JOBS of them; NULL outside of a replay */
extern replay_offer_t *replay_offers;

#endif
