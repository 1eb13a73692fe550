/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/sample.h"

#include <stdlib.h>

#include "util/array.h"

static struct op *append_sample(struct model *md)
{
	struct sample_list *list = &md->samples;

	if (array_grow(&list->ops, &list->capacity, list->n + 1, sizeof(*list->ops))) {
		md->oom = true;
		return NULL;
	}
	return &list->ops[list->n++];
}

/*
 * Returns NO_G if the goroutine is unknown, or if its runtime.g has been reused. A goroutine without a goid
 * (up to Go 1.23 newproc1 assigns it late) has the record's from here on; a made-up goid proves nothing.
 */
static uint32_t sampled_g(struct model *md, const struct raw_record *rec)
{
	struct g *g = g_find(&md->entities, rec->g);
	uint64_t goid;

	if (!g)
		return NO_G;
	g_set_goid(&md->entities, g, rec->goid);
	goid = md->entities.gs.goids[g->index];
	return goid < OWN_GOID && rec->goid && goid != rec->goid ? NO_G : g->index;
}

struct op *sample_take(struct model *md, const struct raw_record *rec)
{
	const struct p *p = p_find(&md->entities, rec->p);
	struct op *op = rec->tid && rec->tid < SYNTHETIC_TID ? append_sample(md) : NULL;

	if (!op)
		return NULL;
	*op = (struct op){
		.kind = OP_CPU_SAMPLE,
		.time = rec->time > md->generation.start ? rec->time : md->generation.start,
		.m = rec->tid,
		.p = p ? p->id : NO_P,
		.g = sampled_g(md, rec),
		.stack = stack_table_find(&md->stacks, rec->stack),
	};
	if (op->time > md->samples.last)
		md->samples.last = op->time;
	return op;
}

void sample_flush(struct model *md)
{
	struct sample_list *list = &md->samples;

	for (size_t i = 0; i < list->n; i++)
		*op_list_append(&md->ops) = list->ops[i];
	if (list->n && list->last > md->ops.last_time)
		md->ops.last_time = list->last;
	list->n = 0;
	list->last = 0;
}
