/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What an annotator keeps of each goroutine. */
#ifndef GOTRACE_ANNOTATE_SLOTS_H
#define GOTRACE_ANNOTATE_SLOTS_H

#include "model/annotator.h"

/* By index of the goroutine. Each slot begins with a uint64_t: the life (g.life) that it belongs to. */
struct g_slots {
	char *all;
	size_t n, size; /* size: bytes of a slot */
};

/* Returns the slot of g's index, of this life or of an earlier one. NULL when out of memory. */
void *slots_at(struct g_slots *slots, const struct g *g);
/* The same, all 0 if it is of an earlier life. */
void *slots_get(struct g_slots *slots, const struct g *g);

/* Returns g's slot; NULL if there is none of this life. */
static inline void *slots_find(const struct g_slots *slots, const struct g *g)
{
	uint64_t *life =
		g->index < slots->n ? (uint64_t *)(void *)(slots->all + g->index * slots->size) : NULL;

	return life && *life == g->life ? life : NULL;
}

#endif
