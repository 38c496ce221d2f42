/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Making GPUs look allocated for the length of one call of cons_tres, which
 * then can't choose them. The node's books are as before afterwards.
 */
#ifndef ACRF_SELECT_GPU_MASK_H
#define ACRF_SELECT_GPU_MASK_H

#include "plugins/slurm_compat.h"

/* The node's record of its GPUs; NULL when it has none */
extern gres_node_state_t *gpus_of_node(node_record_t *node_ptr);

/* Changes to take back; start with all zero */
typedef struct {
	int cnt, size;
	struct {
		gres_node_state_t *gres_ns;
		uint64_t gpus;
	} *changes;
} gpu_mask_t;

/* Hide those of the GPUs (bits) that are free */
extern void gpu_mask_add(gpu_mask_t *mask, gres_node_state_t *gres_ns,
			 uint64_t gpus);

/* Take everything back and free the memory */
extern void gpu_mask_undo(gpu_mask_t *mask);

#endif
