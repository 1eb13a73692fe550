/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/regions.h"

#include "util/array.h"

static void write_region(struct model *md, enum op_kind kind, struct m *m, const struct user_region *region,
			 uint32_t stack)
{
	struct op *op = emit(&md->ops, kind, m);

	op->arg = region->task;
	op->string = region->name;
	op->stack = stack;
}

static void write_task(struct model *md, enum op_kind kind, struct m *m, const struct user_region *region,
		       uint32_t stack)
{
	struct op *op = emit(&md->ops, kind, m);

	op->arg = region->task;
	if (kind == OP_TASK_BEGIN)
		op->string = region->name;
	op->stack = stack;
}

void regions_begin(struct model *md, struct m *m, const struct user_region *region, uint32_t stack)
{
	struct region_list *regions = &m->g->regions;

	if (array_grow(&regions->open, &regions->capacity, regions->n + 1, sizeof(*regions->open))) {
		md->oom = true;
		return;
	}
	regions->open[regions->n++] = *region;
	if (region->own_task)
		write_task(md, OP_TASK_BEGIN, m, region, stack);
	write_region(md, OP_REGION_BEGIN, m, region, stack);
}

void regions_end_deeper(struct model *md, struct m *m, unsigned depth, enum provenance provenance)
{
	struct region_list *regions = &m->g->regions;
	enum provenance before = set_provenance(md, provenance);

	while (regions->n > depth) {
		struct user_region region = regions->open[--regions->n];

		write_region(md, OP_REGION_END, m, &region, 0);
		if (region.own_task)
			write_task(md, OP_TASK_END, m, &region, 0);
	}
	md->ops.provenance = before;
}

void regions_write_end(struct model *md, struct m *m, const struct user_region *region, uint32_t stack)
{
	write_region(md, OP_REGION_END, m, region, stack);
}

unsigned regions_call_depth(const struct region_list *regions, uint64_t sp, bool at_sp)
{
	for (unsigned i = 0; i < regions->n; i++) {
		uint64_t open = regions->open[i].sp;

		if (open && (open < sp || (at_sp && open == sp)))
			return i;
	}
	return regions->n;
}

void regions_end_calls(struct model *md, struct m *m, uint64_t sp, bool at_sp, enum provenance provenance)
{
	regions_end_deeper(md, m, regions_call_depth(&m->g->regions, sp, at_sp), provenance);
}
