/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/select_acrf/gpu_mask.h"

static int _find_gpus(void *x, void *key)
{
	return ((gres_state_t *) x)->plugin_id == *(uint32_t *) key;
}

extern gres_node_state_t *gpus_of_node(node_record_t *node_ptr)
{
	static uint32_t gpu_id;
	gres_state_t *gres_state;

	if (!gpu_id)
		gpu_id = gres_build_id("gpu");
	if (!node_ptr->gres_list)
		return NULL;
	gres_state = list_find_first(node_ptr->gres_list, _find_gpus, &gpu_id);
	return gres_state ? gres_state->gres_data : NULL;
}

/* All the counters that cons_tres looks at; `by` is 1 or -1 */
static void _count(gres_node_state_t *gres_ns, int gpu, int by)
{
	gres_ns->gres_cnt_alloc += by;
	for (int t = 0; t < gres_ns->topo_cnt; t++) {
		if (!gres_ns->topo_gres_bitmap[t] ||
		    (gpu >= bit_size(gres_ns->topo_gres_bitmap[t])) ||
		    !bit_test(gres_ns->topo_gres_bitmap[t], gpu))
			continue;
		gres_ns->topo_gres_cnt_alloc[t] += by;
		for (int j = 0; j < gres_ns->type_cnt; j++)
			if (gres_ns->type_id[j] == gres_ns->topo_type_id[t])
				gres_ns->type_cnt_alloc[j] += by;
	}
}

extern void gpu_mask_add(gpu_mask_t *mask, gres_node_state_t *gres_ns,
			 uint64_t gpus)
{
	uint64_t hidden = 0;
	int size = MIN(bit_size(gres_ns->gres_bit_alloc), 64);

	for (int gpu = 0; gpu < size; gpu++) {
		if (!((gpus >> gpu) & 1) ||
		    bit_test(gres_ns->gres_bit_alloc, gpu))
			continue;
		bit_set(gres_ns->gres_bit_alloc, gpu);
		_count(gres_ns, gpu, 1);
		hidden |= (uint64_t) 1 << gpu;
	}
	if (!hidden)
		return;
	if (mask->cnt == mask->size) {
		mask->size = MAX(16, mask->size * 2);
		xrecalloc(mask->changes, mask->size, sizeof(*mask->changes));
	}
	mask->changes[mask->cnt].gres_ns = gres_ns;
	mask->changes[mask->cnt++].gpus = hidden;
}

extern void gpu_mask_undo(gpu_mask_t *mask)
{
	for (int i = 0; i < mask->cnt; i++) {
		gres_node_state_t *gres_ns = mask->changes[i].gres_ns;
		uint64_t gpus = mask->changes[i].gpus;

		for (int gpu = 0; gpus; gpu++, gpus >>= 1) {
			if (!(gpus & 1))
				continue;
			bit_clear(gres_ns->gres_bit_alloc, gpu);
			_count(gres_ns, gpu, -1);
		}
	}
	xfree(mask->changes);
	memset(mask, 0, sizeof(*mask));
}
