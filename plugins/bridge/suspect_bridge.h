/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that a job holds to blame for its slowness, from the plugin to
 * core/accusation.h and back. Nothing here throws.
 */
#ifndef ACRF_SUSPECT_BRIDGE_H
#define ACRF_SUSPECT_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
	int hangs;		/* else they are slow */
	char *nodes;		/* names, with commas between */
	char *admin_comment;	/* of the job, with the accusation noted */
} acrf_accusation_t;

/* RET 1 when the job says something new, which is to be freed; else 0 */
extern int acrf_accusation(const char *comment, const char *admin_comment,
			   int node_cnt, int64_t now, int again_s,
			   acrf_accusation_t *accusation);
extern void acrf_accusation_free(acrf_accusation_t *accusation);

/* Is the node with this comment accused by this user? */
extern int acrf_is_accused_by(const char *node_comment, uint32_t uid);

/*
 * The node's comment with the accusation, or without one that is over by now.
 * RET to be freed by free(); NULL: it stays as it is
 */
extern char *acrf_with_accused(const char *node_comment, int64_t until,
			       int hangs, uint32_t uid);
extern char *acrf_without_accused(const char *node_comment, int64_t now);

#ifdef __cplusplus
}
#endif

#endif
