/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "annotate/regions.h"

#include <stdlib.h>

#include "annotate/annotations.h"
#include "util/array.h"

struct region_slot {
	uint64_t life;
	struct region_list list;
};

struct region_list *regions_of(struct regions *regions, const struct g *g)
{
	struct region_slot *slot = slots_at(&regions->slots, g);

	if (!slot) {
		regions->view->oom = true;
		regions->none.n = 0;
		return &regions->none;
	}
	if (slot->life != g->life) {
		free(slot->list.open);
		*slot = (struct region_slot){.life = g->life};
	}
	return &slot->list;
}

static void write_region(struct regions *regions, enum op_kind kind, struct m *m,
			 const struct user_region *region, uint32_t stack)
{
	struct op *op = emit(regions->view->ops, kind, m);

	op->arg = region->task;
	op->string = region->name;
	op->stack = stack;
}

static void write_task(struct regions *regions, enum op_kind kind, struct m *m,
		       const struct user_region *region, uint32_t stack)
{
	struct op *op = emit(regions->view->ops, kind, m);

	op->arg = region->task;
	if (kind == OP_TASK_BEGIN)
		op->string = region->name;
	op->stack = stack;
}

void regions_begin(struct regions *regions, struct m *m, const struct user_region *region, uint32_t stack)
{
	struct region_list *list = regions_of(regions, m->g);

	if (array_grow(&list->open, &list->capacity, list->n + 1, sizeof(*list->open))) {
		regions->view->oom = true;
		return;
	}
	list->open[list->n++] = *region;
	if (region->own_task)
		write_task(regions, OP_TASK_BEGIN, m, region, stack);
	write_region(regions, OP_REGION_BEGIN, m, region, stack);
}

void regions_end_deeper(struct regions *regions, struct m *m, unsigned depth, enum provenance provenance)
{
	struct region_list *list = regions_of(regions, m->g);
	enum provenance before = set_provenance(regions->view->ops, provenance);

	while (list->n > depth) {
		struct user_region region = list->open[--list->n];

		write_region(regions, OP_REGION_END, m, &region, 0);
		if (region.own_task)
			write_task(regions, OP_TASK_END, m, &region, 0);
	}
	regions->view->ops->provenance = before;
}

void regions_write_end(struct regions *regions, struct m *m, const struct user_region *region, uint32_t stack)
{
	write_region(regions, OP_REGION_END, m, region, stack);
}

bool regions_have_calls(const struct regions *regions, const struct g *g)
{
	const struct region_slot *slot = slots_find(&regions->slots, g);

	return slot && regions_call_depth(&slot->list, UINT64_MAX, true) < slot->list.n;
}

unsigned regions_call_depth(const struct region_list *list, uint64_t sp, bool at_sp)
{
	for (unsigned i = 0; i < list->n; i++) {
		uint64_t open = list->open[i].sp;

		if (open && (open < sp || (at_sp && open == sp)))
			return i;
	}
	return list->n;
}

void regions_end_calls(struct regions *regions, struct m *m, uint64_t sp, bool at_sp,
		       enum provenance provenance)
{
	unsigned depth = regions_call_depth(regions_of(regions, m->g), sp, at_sp);

	regions_end_deeper(regions, m, depth, provenance);
}

void regions_settle(struct regions *regions, struct m *m)
{
	struct region_list *list = regions_of(regions, m->g);

	if (list->losses == regions->view->losses)
		return;
	list->losses = regions->view->losses;
	list->too_deep = 0;
	for (unsigned i = 0; i < list->n; i++) {
		if (list->open[i].unnamed)
			regions_end_deeper(regions, m, i, REPAIRED);
	}
}

/* --- as an annotator --- */

static bool regions_open(struct annotations *all)
{
	all->regions = calloc(1, sizeof(*all->regions));
	if (!all->regions)
		return false;
	all->regions->view = all->view;
	all->regions->slots.size = sizeof(struct region_slot);
	return true;
}

static void regions_free(struct annotations *all)
{
	struct regions *regions = all->regions;

	for (size_t i = 0; regions && i < regions->slots.n; i++)
		free(((struct region_slot *)(void *)regions->slots.all)[i].list.open);
	if (regions) {
		free(regions->slots.all);
		free(regions->none.open);
	}
	free(regions);
}

static void keep_region_names(struct annotations *all)
{
	const struct goroutine_table *gs = &all->view->entities->gs;

	for (uint32_t i = 1; i < gs->n; i++) {
		const struct region_slot *slot = slots_find(&all->regions->slots, gs->all[i]);

		for (unsigned k = 0; slot && k < slot->list.n; k++)
			strtab_keep(all->view->strings, slot->list.open[k].name);
	}
}

const struct annotator regions_annotator = {
	.open = regions_open,
	.free = regions_free,
	.keep_names = keep_region_names,
};
