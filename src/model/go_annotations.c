/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tasks, regions and logs of runtime/trace. Readers require the regions of a goroutine to nest (Go 1.26
 * internal/trace/order.go, endRegion): an end must belong to the innermost region, or come when none is open.
 * Other ends are misuse or follow from a loss, and are left out.
 */
#include "model/go_annotations.h"

#include "model/regions.h"
#include "model/repair.h"

enum {
	MAX_OPEN = 1000,          /* regions of a goroutine; deeper ones are left out */
	MAX_OPEN_TASKS = 1 << 22, /* 96 MB */
};

static void begin_region(struct model *md, struct m *m, const struct user_region *region, uint32_t stack)
{
	struct region_list *regions = &m->g->regions;

	if (regions->n >= MAX_OPEN || regions->too_deep)
		regions->too_deep++;
	else
		regions_begin(md, m, region, stack);
}

/* Ends deeper regions, whose ends were not seen. */
static void end_deeper(struct model *md, struct m *m, unsigned depth)
{
	regions_end_deeper(md, m, depth, REPAIRED);
}

static bool matches(const struct user_region *open, const struct user_region *wanted)
{
	if (open->sp)
		return false; /* a traced call, not begun by the program */
	if (open->unnamed || wanted->unnamed)
		return open->unnamed && wanted->unnamed;
	return open->task == wanted->task && open->name == wanted->name;
}

/* Returns the index of the innermost region that matches, or the list's length if none does. */
static unsigned depth_of(const struct region_list *regions, const struct user_region *wanted)
{
	for (unsigned i = regions->n; i--;) {
		if (matches(&regions->open[i], wanted))
			return i;
	}
	return regions->n;
}

static void end_region(struct model *md, struct m *m, const struct user_region *wanted, uint32_t stack)
{
	struct region_list *regions = &m->g->regions;
	unsigned depth = depth_of(regions, wanted);

	if (regions->too_deep) {
		regions->too_deep--;
		return;
	}
	if (depth < regions->n) {
		end_deeper(md, m, depth + 1);
		regions->n--;
		regions_write_end(md, m, &regions->open[depth], stack);
	} else if (regions->n == 0 && !wanted->unnamed) {
		regions_write_end(md, m, wanted, stack); /* it began before the trace */
	}
}

/*
 * After a loss, the end of an unnamed region may belong to any of them. So unnamed regions that were open,
 * and the regions inside them, end at the goroutine's next annotation.
 */
void regions_settle(struct model *md, struct m *m)
{
	struct region_list *regions = &m->g->regions;

	if (regions->losses == md->annotations.losses)
		return;
	regions->losses = md->annotations.losses;
	regions->too_deep = 0;
	for (unsigned i = 0; i < regions->n; i++) {
		if (regions->open[i].unnamed)
			end_deeper(md, m, i);
	}
}

static void on_region(struct model *md, const struct probe_hit *hit)
{
	const struct raw_record *rec = hit->rec;
	struct user_region region = {
		.task = rec->arg,
		.name = md->annotations.ids.string,
		.unnamed = rec->site == SITE_REGION_START || rec->site == SITE_REGION_STOP,
	};

	regions_settle(md, hit->m);
	if (rec->site == SITE_REGION_BEGIN || rec->site == SITE_REGION_START)
		begin_region(md, hit->m, &region, hit->stack);
	else
		end_region(md, hit->m, &region, hit->stack);
}

/* Readers reject a task that begins twice. Ids are unique, so such a record is corrupt. */
static void on_task_begin(struct model *md, const struct probe_hit *hit)
{
	const struct raw_record *rec = hit->rec;
	struct map64 *open = &md->annotations.open_tasks;
	struct op *op;

	if (!rec->arg || map64_get(open, rec->arg) || open->count >= MAX_OPEN_TASKS)
		return;
	if (map64_set(open, rec->arg, 1))
		md->oom = true;
	op = emit(&md->ops, OP_TASK_BEGIN, hit->m);
	op->arg = rec->arg;
	op->arg2 = rec->arg2;
	op->string = md->annotations.ids.string;
	op->stack = hit->stack;
}

static void on_task_end(struct model *md, const struct probe_hit *hit)
{
	const struct raw_record *rec = hit->rec;
	struct op *op = emit(&md->ops, OP_TASK_END, hit->m);

	map64_del(&md->annotations.open_tasks, rec->arg);
	op->arg = rec->arg;
	op->stack = hit->stack;
}

static void on_log(struct model *md, const struct probe_hit *hit)
{
	const struct raw_record *rec = hit->rec;
	struct op *op = emit(&md->ops, OP_LOG, hit->m);

	op->arg = rec->arg;
	op->string = md->annotations.ids.string;
	op->string2 = md->annotations.ids.string2;
	op->stack = hit->stack;
}

void on_annotation(struct model *md, const struct probe_hit *hit)
{
	if (!make_running(md, hit))
		return;
	switch (hit->rec->site) {
	case SITE_TASK_BEGIN:
		on_task_begin(md, hit);
		break;
	case SITE_TASK_END:
		on_task_end(md, hit);
		break;
	case SITE_LOG:
		on_log(md, hit);
		break;
	default:
		on_region(md, hit);
	}
}
