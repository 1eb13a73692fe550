/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Traced function calls (--region, --task), as regions and tasks of the calling goroutine or thread. A call
 * is identified by its caller's stack pointer (raw_record.arg2, lower for deeper calls); for a goroutine it
 * is relative to the end of the stack, so that it does not change when the stack is moved. When a call begins
 * or ends, all deeper calls are over: a recovered panic, an exception, longjmp or a tail call unwound them,
 * and no return was seen. A thread that switches between its own stacks looks the same.
 */
#include <stdlib.h>

#include "annotate/annotations.h"
#include "annotate/regions.h"
#include "annotate/values.h"
#include "util/array.h"

enum { MAX_FUNCTIONS = 4096 };

/* The ids of runtime/trace count up from 1. */
#define FIRST_TASK (1ull << 48)

struct traced_function {
	uint32_t name; /* string id */
	uint16_t kind; /* enum log_function_kind, 0 = not known */
	/* Names of the values read at its begin and at its end: string ids, 0 = not known. */
	uint32_t labels[2][VALUES_MAX];
};

struct calls {
	struct model_view *view;
	struct regions *regions;
	struct traced_function *functions; /* by number */
	size_t n;
	uint64_t tasks; /* task ids assigned so far */
};

/* --- functions --- */

static void learn_function(struct calls *calls, const struct log_function *function)
{
	if (function->number >= MAX_FUNCTIONS)
		return;
	if (array_grow(&calls->functions, &calls->n, function->number + (size_t)1,
		       sizeof(*calls->functions))) {
		calls->view->oom = true;
		return;
	}
	calls->functions[function->number] = (struct traced_function){
		.name = strtab_add(calls->view->strings, (const char *)(function + 1), function->len),
		.kind = function->kind,
	};
}

static void learn_values(struct calls *calls, const struct log_values *values)
{
	const char *name = (const char *)(values + 1);
	uint32_t *labels;

	if (values->number >= calls->n)
		return;
	labels = calls->functions[values->number].labels[values->site == SITE_FUNCTION_END];
	for (unsigned i = 0; i < values->n; i++) {
		size_t len = (uint8_t)*name++;

		labels[i] = strtab_add(calls->view->strings, name, len);
		name += len;
	}
}

static const struct traced_function *calls_function_of(const struct calls *calls, uint64_t number)
{
	return number < calls->n && calls->functions[number].kind ? &calls->functions[number] : NULL;
}

/* --- calls --- */

/* Writes the argument values as a log of the goroutine. */
static void log_values(struct calls *calls, const struct probe_hit *hit, const struct user_region *region,
		       uint32_t stack)
{
	const struct raw_record *rec = hit->rec;
	const struct traced_function *function = calls_function_of(calls, rec->arg);
	static const uint32_t no_labels[VALUES_MAX];
	struct values_message message;
	struct op *op;

	if (!(rec->flags & RAW_VALUES) || !hit->text)
		return;
	values_message(&message, hit->text, calls->view->strings,
		       function ? function->labels[rec->site == SITE_FUNCTION_END] : no_labels);
	op = emit(calls->view->ops, OP_LOG, hit->m);
	op->arg = region->task;
	op->string = region->name;
	op->string2 = model_text_id(calls->view->model, message.text, message.len);
	op->stack = stack;
}

static uint64_t new_task(struct calls *calls)
{
	bool threads = calls->view->target->flags & LOG_TARGET_THREADS;

	return (threads ? 0 : FIRST_TASK) + ++calls->tasks;
}

static void calls_begin_call(struct calls *calls, const struct probe_hit *hit)
{
	const struct raw_record *rec = hit->rec;
	const struct traced_function *function = calls_function_of(calls, rec->arg);
	struct user_region region = {.sp = rec->arg2};

	regions_end_calls(calls->regions, hit->m, rec->arg2, true, INFERRED);
	if (!function || regions_of(calls->regions, hit->m->g)->n >= REGIONS_MAX)
		return;
	region.name = function->name;
	region.own_task = function->kind == FUNCTION_TASK;
	if (region.own_task)
		region.task = new_task(calls);
	regions_begin(calls->regions, hit->m, &region, hit->stack);
	log_values(calls, hit, &region, hit->stack);
}

/* If no open call matches, it began before the trace. */
static void calls_end_call(struct calls *calls, const struct probe_hit *hit)
{
	const struct region_list *list = regions_of(calls->regions, hit->m->g);
	unsigned depth;

	regions_end_calls(calls->regions, hit->m, hit->rec->arg2, false, INFERRED);
	depth = regions_call_depth(list, hit->rec->arg2, true);
	if (depth == list->n)
		return;
	regions_end_deeper(calls->regions, hit->m, depth + 1, INFERRED); /* regions that the call left open */
	log_values(calls, hit, &list->open[depth], 0);
	regions_end_deeper(calls->regions, hit->m, depth, OBSERVED);
}

/* --- as an annotator --- */

static bool calls_open(struct annotations *all)
{
	all->calls = calloc(1, sizeof(*all->calls));
	if (!all->calls)
		return false;
	all->calls->view = all->view;
	all->calls->regions = all->regions;
	return true;
}

static void calls_free(struct annotations *all)
{
	if (all->calls)
		free(all->calls->functions);
	free(all->calls);
}

static void calls_learn(struct annotations *all, const struct log_record *record)
{
	if (record->type == LOG_FUNCTION)
		learn_function(all->calls, record->data);
	else
		learn_values(all->calls, record->data);
}

static void calls_observe(struct annotations *all, const struct probe_hit *hit)
{
	if (!hit->rec->arg2)
		return;
	regions_settle(all->regions, hit->m);
	if (hit->rec->site == SITE_FUNCTION_BEGIN)
		calls_begin_call(all->calls, hit);
	else
		calls_end_call(all->calls, hit);
}

/* A goroutine that ends, or whose program does, will not return from its open calls. */
static void calls_op(struct annotations *all, enum op_kind kind, struct m *m)
{
	(void)kind;
	if (!regions_have_calls(all->regions, m->g))
		return;
	model_end_call(all->view->model, m->g);
	regions_end_calls(all->regions, m, UINT64_MAX, true, INFERRED);
}

const struct annotator calls_annotator = {
	.open = calls_open,
	.free = calls_free,
	.sites = {SITE_FUNCTION_BEGIN, SITE_FUNCTION_END},
	.observe = calls_observe,
	.records = {LOG_FUNCTION, LOG_VALUES},
	.learn = calls_learn,
	.ops = 1ull << OP_GO_DESTROY,
	.op = calls_op,
};
