/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Traced function calls, as regions and tasks. A call is identified by its caller's stack pointer. Stacks
 * grow down, so deeper calls are over when a higher one begins or ends (longjmp, an exception, a tail call).
 * A thread that switches between its own stacks looks the same.
 */
#include "model/threads_functions.h"

#include "model/threads_names.h"

#include "util/array.h"

enum { MAX_DEPTH = 1000 };

static struct op *write_op(struct model *md, enum op_kind kind, struct m *m, const struct function_call *call,
			   uint32_t stack)
{
	struct op *op = emit(&md->ops, kind, m);

	op->arg = call->task;
	op->stack = stack;
	if (kind != OP_TASK_END)
		op->string = call->name;
	return op;
}

/* Writes the argument values as a log of the thread. */
static void log_values(struct model *md, struct m *m, const struct raw_record *rec,
		       const struct function_call *call, uint32_t stack)
{
	if (rec->flags & RAW_VALUES)
		write_op(md, OP_LOG, m, call, stack)->string2 = md->annotations.ids.string2;
}

static void end_innermost(struct model *md, struct thread_life *t)
{
	struct function_call call = t->calls.open[--t->calls.n];

	write_op(md, OP_REGION_END, t->g->m, &call, 0);
	if (call.task)
		write_op(md, OP_TASK_END, t->g->m, &call, 0);
}

/* Ends deeper calls, whose returns were not seen. */
static void end_deeper(struct model *md, struct thread_life *t, uint64_t sp, bool at_sp)
{
	struct function_calls *calls = &t->calls;
	enum provenance before = md->ops.provenance;

	md->ops.provenance = INFERRED;
	while (calls->n &&
	       (calls->open[calls->n - 1].sp < sp || (at_sp && calls->open[calls->n - 1].sp == sp)))
		end_innermost(md, t);
	md->ops.provenance = before;
}

void thread_end_functions(struct model *md, struct thread_life *t)
{
	end_deeper(md, t, UINT64_MAX, true);
}

void function_begin(struct model *md, struct thread_life *t, const struct raw_record *rec)
{
	const struct watched_function *function = functions_find(&md->functions, rec->arg);
	struct function_call call = {.sp = rec->arg2};
	struct function_calls *calls = &t->calls;
	uint32_t stack;

	end_deeper(md, t, rec->arg2, true);
	if (!function || calls->n >= MAX_DEPTH)
		return;
	if (array_grow(&calls->open, &calls->capacity, calls->n + 1, sizeof(*calls->open))) {
		md->oom = true;
		return;
	}
	call.name = function->name;
	call.task = function->kind == FUNCTION_TASK ? ++md->functions.tasks : 0;
	stack = thread_stack(md, t, rec->stack, 0);
	if (call.task)
		write_op(md, OP_TASK_BEGIN, t->g->m, &call, stack);
	write_op(md, OP_REGION_BEGIN, t->g->m, &call, stack);
	log_values(md, t->g->m, rec, &call, stack);
	calls->open[calls->n++] = call;
}

/* If no open call matches, it began before the trace. */
void function_end(struct model *md, struct thread_life *t, const struct raw_record *rec)
{
	struct function_calls *calls = &t->calls;

	end_deeper(md, t, rec->arg2, false);
	if (!calls->n || calls->open[calls->n - 1].sp != rec->arg2)
		return;
	log_values(md, t->g->m, rec, &calls->open[calls->n - 1], 0);
	end_innermost(md, t);
}
