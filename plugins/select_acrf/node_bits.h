/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's bitmaps of nodes as words of 64 bits: asking for one bit after the
 * other costs more than a decision when the cluster is large.
 */
#ifndef ACRF_NODE_BITS_H
#define ACRF_NODE_BITS_H

#include "plugins/slurm_compat.h"

/* A bitmap's words; Slurm's bit i is bit i % 64 of word i / 64. NULL for NULL */
static inline const uint64_t *node_words(bitstr_t *bitmap)
{
	return bitmap ? (const uint64_t *) (bitmap + BITSTR_OVERHEAD) : NULL;
}

/* That Slurm's own layout is this one, looked at once */
static inline bool node_words_are_understood(void)
{
	static int understood = -1;
	bitstr_t *bitmap;

	if (understood >= 0)
		return understood;
	bitmap = bit_alloc(130);
	bit_set(bitmap, 1);
	bit_set(bitmap, 70);
	bit_set(bitmap, 129);
	understood = (node_words(bitmap)[0] == 2) &&
		     (node_words(bitmap)[1] == 64) &&
		     (node_words(bitmap)[2] == 2);
	FREE_NULL_BITMAP(bitmap);
	return understood;
}

/* RET the first node from `from` on that is set, -1: none */
static inline int next_set_node(bitstr_t *bitmap, int from)
{
	int size = bit_size(bitmap);

	if (!node_words_are_understood()) {
		while ((from < size) && !bit_test(bitmap, from))
			from++;
		return (from < size) ? from : -1;
	}
	while (from < size) {
		uint64_t word = node_words(bitmap)[from / 64] >> (from % 64);

		if (word) {
			from += __builtin_ctzll(word);
			break;
		}
		from = (from | 63) + 1;
	}
	return (from < size) ? from : -1;
}

/* Each set bit in turn; the bitmap may change on the way */
#define for_each_set_node(i, bitmap) \
	for (int i = next_set_node(bitmap, 0); i >= 0; i = next_set_node(bitmap, i + 1))

#endif
