/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Traced function calls of a Go program, as regions and tasks of the calling goroutine. A call is identified
 * by its caller's stack pointer relative to the end of the goroutine's stack (raw_record.arg2, the
 * difference; lower for deeper calls), which does not change when the stack is moved. When a call begins or
 * ends, all deeper calls are over: a recovered panic unwound them, and no return was seen.
 */
#include "model/go_functions.h"

#include "model/go_annotations.h"
#include "model/regions.h"
#include "model/repair.h"

enum { MAX_DEPTH = 1000 };

/* The ids of runtime/trace count up from 1. */
#define FIRST_TASK (1ull << 48)

/* Writes the argument values as a log of the goroutine. */
static void log_values(struct model *md, struct m *m, const struct raw_record *rec,
		       const struct user_region *region, uint32_t stack)
{
	struct op *op;

	if (!(rec->flags & RAW_VALUES))
		return;
	op = emit(&md->ops, OP_LOG, m);
	op->arg = region->task;
	op->string = region->name;
	op->string2 = md->annotations.ids.string2;
	op->stack = stack;
}

static void begin_call(struct model *md, struct m *m, const struct raw_record *rec, uint32_t stack)
{
	const struct watched_function *function = functions_find(&md->functions, rec->arg);
	struct user_region region = {.sp = rec->arg2};

	regions_end_calls(md, m, rec->arg2, true, INFERRED);
	if (!function || m->g->regions.n >= MAX_DEPTH)
		return;
	region.name = function->name;
	region.own_task = function->kind == FUNCTION_TASK;
	if (region.own_task)
		region.task = FIRST_TASK + ++md->functions.tasks;
	regions_begin(md, m, &region, stack);
	log_values(md, m, rec, &region, stack);
}

/* If no open call matches, it began before the trace. */
static void end_call(struct model *md, struct m *m, const struct raw_record *rec)
{
	struct region_list *regions = &m->g->regions;
	unsigned depth;

	regions_end_calls(md, m, rec->arg2, false, INFERRED);
	depth = regions_call_depth(regions, rec->arg2, true);
	if (depth == regions->n)
		return;
	regions_end_deeper(md, m, depth + 1, INFERRED); /* regions that the call left open */
	log_values(md, m, rec, &regions->open[depth], 0);
	regions_end_deeper(md, m, depth, OBSERVED);
}

void on_function(struct model *md, const struct probe_hit *hit)
{
	const struct raw_record *rec = hit->rec;
	struct g *g = g_of_record(md, rec->g, rec->goid, G_RUNNABLE);

	if (!g || !force_running(md, hit->m, g, hit->p) || !rec->arg2)
		return;
	g->last_hit = rec->time;
	regions_settle(md, hit->m);
	if (rec->site == SITE_FUNCTION_BEGIN)
		begin_call(md, hit->m, rec, hit->stack);
	else
		end_call(md, hit->m, rec);
}
