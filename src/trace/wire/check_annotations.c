/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tasks and regions: task ids are unique, and the regions of a goroutine nest. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "trace/wire/buffer.h"
#include "trace/wire/order_state.h"

enum { TASK_ENDED, TASK_ACTIVE };

static int check_name(const struct order_step *step, uint64_t id)
{
	if (!chunk_has_string(step->chunk, id))
		return BROKEN(step, "invalid string ID %" PRIu64 " for %s event", id, step->spec->name);
	return 0;
}

/* Returns 0 or -EBADMSG. */
static int order_step_check_op(const struct order_step *step)
{
	struct violation violation;

	if (sched_check(&step->order->sched, &step->op, &violation))
		return 0;
	return order_violation(step, &violation);
}

static int order_step_task_begin(struct order_step *step)
{
	uint64_t id = step->ev->args[0];

	if (map64_find(&step->order->tasks, id) == TASK_ACTIVE)
		return BROKEN(step, "task ID conflict: %" PRIu64, id);
	if (check_name(step, step->ev->args[2]) || order_step_check_op(step))
		return -EBADMSG;
	return map64_set(&step->order->tasks, id, TASK_ACTIVE) ? -ENOMEM : ADVANCE;
}

static int order_step_task_end(struct order_step *step)
{
	uint64_t id = step->ev->args[0];

	if (order_step_check_op(step))
		return -EBADMSG;
	if (map64_find(&step->order->tasks, id) == TASK_ACTIVE &&
	    map64_set(&step->order->tasks, id, TASK_ENDED))
		return -ENOMEM;
	return ADVANCE;
}

static bool is_same_region(const struct open_region *a, const struct open_region *b)
{
	return a->task == b->task && a->name.len == b->name.len &&
	       (a->name.len == 0 || memcmp(a->name.bytes, b->name.bytes, a->name.len) == 0);
}

/* Copies text from the file into a message, with '?' for all but printable ASCII. */
static void printable(char *out, size_t size, const struct file_text *text)
{
	size_t n = text->len < size - 1 ? text->len : size - 1;

	for (size_t i = 0; i < n; i++)
		out[i] = text->bytes[i] >= ' ' && text->bytes[i] < 127 ? (char)text->bytes[i] : '?';
	out[n] = '\0';
}

static int order_step_end_region(const struct order_step *step, struct g_record *g,
				 const struct open_region *region)
{
	const struct open_region *top = &g->regions[g->nregions - 1];
	char ending[64], open[64];

	if (is_same_region(top, region)) {
		g->nregions--;
		return ADVANCE;
	}
	printable(ending, sizeof(ending), &region->name);
	printable(open, sizeof(open), &top->name);
	return BROKEN(step,
		      "misuse of region in goroutine %" PRIu64 ": region end {%" PRIu64
		      " %s} when the inner-most active region start event is {%" PRIu64 " %s}",
		      g->id, region->task, ending, top->task, open);
}

static int region(struct order_step *step)
{
	struct order *order = step->order;
	struct open_region region = {.task = step->ev->args[0]};
	struct violation violation;
	struct g_record *g;

	if (!sched_check_needs(&order->sched, step->op.m, NEED_USER, &violation))
		return order_violation(step, &violation);
	if (check_name(step, step->ev->args[1]) || order_step_check_op(step))
		return -EBADMSG;
	region.name = chunk_text(step->chunk, step->ev->args[1]);
	g = &order->gs[order->sched.ms[step->op.m].g];
	if (step->op.kind == OP_REGION_END)
		return g->nregions ? order_step_end_region(step, g, &region) : ADVANCE;
	if (array_grow((void **)&g->regions, &g->region_capacity, g->nregions + 1, sizeof(*g->regions)))
		return -ENOMEM;
	g->regions[g->nregions++] = region;
	return ADVANCE;
}

int order_annotation(struct order_step *step)
{
	switch (step->op.kind) {
	case OP_TASK_BEGIN:
		return order_step_task_begin(step);
	case OP_TASK_END:
		return order_step_task_end(step);
	default:
		return region(step);
	}
}
