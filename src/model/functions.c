/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Calls of a Go program's functions that the user asked for, as regions and
 * tasks of the goroutine that makes them. A call is known by how far its caller's stack
 * pointer is below the end of the goroutine's stack (raw_record.arg2 is the
 * difference, so a deeper call has a lower number): that stays the same when
 * the stack is moved. What lies deeper is over when something higher begins or
 * ends: a panic that was recovered has unwound it, and no return was seen.
 */
#include <stdlib.h>

#include "state.h"

enum { MAX_FUNCTIONS = 4096, MAX_DEPTH = 1000 };

/* The ids that runtime/trace gives count up from 1. */
#define FIRST_TASK (1ull << 48)

void functions_learn(struct model *md, const struct log_function *function)
{
	struct function_table *table = &md->functions;
	uint32_t n = function->number + 1;

	if (function->number >= MAX_FUNCTIONS)
		return;
	if (n > table->n) {
		struct function *bigger = realloc(table->all, n * sizeof(*bigger));

		if (!bigger) {
			md->oom = true;
			return;
		}
		for (uint32_t i = table->n; i < n; i++)
			bigger[i] = (struct function){0};
		table->all = bigger;
		table->n = n;
	}
	table->all[function->number] = (struct function){
		.name = strtab_add(md->options.strings, (const char *)(function + 1), function->len),
		.kind = function->kind,
	};
}

const struct function *function_of(const struct model *md, uint64_t number)
{
	const struct function_table *table = &md->functions;

	return number < table->n && table->all[number].kind ? &table->all[number] : NULL;
}

/* The outermost call that is over when one with this caller begins, or (`after`: all below it) ends. */
static unsigned depth_at(const struct region_list *regions, uint64_t sp, bool at_sp)
{
	for (unsigned i = 0; i < regions->n; i++) {
		uint64_t open = regions->open[i].sp;

		if (open && (open < sp || (at_sp && open == sp)))
			return i;
	}
	return regions->n;
}

void functions_end_all(struct model *md, struct m *m)
{
	regions_end_deeper(md, m, depth_at(&m->g->regions, UINT64_MAX, true), INFERRED);
}

static void begin_call(struct model *md, struct m *m, const struct raw_record *rec, uint32_t stack)
{
	const struct function *function = function_of(md, rec->arg);
	struct region region = {.sp = rec->arg2};

	regions_end_deeper(md, m, depth_at(&m->g->regions, rec->arg2, true), INFERRED);
	if (!function || m->g->regions.n >= MAX_DEPTH)
		return;
	region.name = function->name;
	region.own_task = function->kind == FUNCTION_TASK;
	if (region.own_task)
		region.task = FIRST_TASK + ++md->functions.tasks;
	regions_begin(md, m, &region, stack);
}

/* Without one that fits it began before the trace. */
static void end_call(struct model *md, struct m *m, const struct raw_record *rec)
{
	struct region_list *regions = &m->g->regions;
	unsigned depth;

	regions_end_deeper(md, m, depth_at(regions, rec->arg2, false), INFERRED);
	depth = depth_at(regions, rec->arg2, true);
	if (depth == regions->n)
		return;
	regions_end_deeper(md, m, depth + 1, INFERRED); /* what it has begun and left open itself */
	regions_end_deeper(md, m, depth, SEEN);
}

void observe_function(struct model *md, const struct raw_record *rec, struct m *m, struct p *p,
		      uint32_t stack)
{
	struct g *g = g_of_record(md, rec->g, rec->goid, G_RUNNABLE);

	if (!g || !make_running(md, m, g, p) || !rec->arg2)
		return;
	g->last_hit = rec->time;
	regions_settle(md, m);
	if (rec->site == SITE_FUNCTION_BEGIN)
		begin_call(md, m, rec, stack);
	else
		end_call(md, m, rec);
}
