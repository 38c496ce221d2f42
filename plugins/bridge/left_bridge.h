/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that have left a node which can't say so itself, by acrf-healthd's word in
 * the node's comment (core/node_health.h). Nothing here throws.
 */
#ifndef ACRF_LEFT_BRIDGE_H
#define ACRF_LEFT_BRIDGE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* RET 1 when nothing of the job goes on there; else 0 */
extern int acrf_has_left(const char* node_comment, uint32_t job_id);

#ifdef __cplusplus
}
#endif

#endif
