/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPU samples. They say what was found in memory, change nobody's state, and
 * are gathered beside the ops: a reader puts them in their place by their time.
 */
#include <stdlib.h>

#include "state.h"

static struct op *append_sample(struct model *md)
{
	struct sample_list *list = &md->samples;

	if (list->n == list->capacity) {
		size_t more = list->capacity ? list->capacity * 2 : 256;
		struct op *ops = realloc(list->ops, more * sizeof(*ops));

		if (!ops) {
			md->oom = true;
			return NULL;
		}
		list->ops = ops;
		list->capacity = more;
	}
	return &list->ops[list->n++];
}

/*
 * A goroutine that no record was about yet, or another one in its place, is as
 * good as none. One that has had no number yet (newproc1 gives it late up to
 * Go 1.23) has it from here on; a made-up one contradicts nothing.
 */
static uint32_t sampled_g(struct model *md, const struct raw_record *rec)
{
	struct g *g = g_find(md, rec->g);
	uint64_t goid;

	if (!g)
		return NO_G;
	g_set_goid(md, g, rec->goid);
	goid = md->gs.goids[g->index];
	return goid < STAND_IN_GOID && rec->goid && goid != rec->goid ? NO_G : g->index;
}

struct op *sample_take(struct model *md, const struct raw_record *rec)
{
	const struct p *p = p_find(md, rec->p);
	struct op *op = rec->tid && rec->tid < STAND_IN_TID ? append_sample(md) : NULL;

	if (!op)
		return NULL;
	*op = (struct op){
		.kind = OP_CPU_SAMPLE,
		.time = rec->time > md->generation_start ? rec->time : md->generation_start,
		.m = rec->tid,
		.p = p ? p->id : NO_P,
		.g = sampled_g(md, rec),
		.stack = tables_stack(md, rec->stack),
	};
	if (op->time > md->samples.last)
		md->samples.last = op->time;
	return op;
}

void sample_flush(struct model *md)
{
	struct sample_list *list = &md->samples;

	for (size_t i = 0; i < list->n; i++)
		*append_op(md) = list->ops[i];
	if (list->n && list->last > md->last_time)
		md->last_time = list->last;
	list->n = 0;
	list->last = 0;
}
