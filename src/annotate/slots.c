/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "annotate/slots.h"

#include "util/array.h"

void *slots_at(struct g_slots *slots, const struct g *g)
{
	if (array_grow(&slots->all, &slots->n, g->index + (size_t)1, slots->size))
		return NULL;
	return slots->all + g->index * slots->size;
}

void *slots_get(struct g_slots *slots, const struct g *g)
{
	uint64_t *life = slots_at(slots, g);

	if (life && *life != g->life) {
		memset(life, 0, slots->size);
		*life = g->life;
	}
	return life;
}
