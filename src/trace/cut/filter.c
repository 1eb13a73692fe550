/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/cut/filter.h"

#include <stdlib.h>

static int filter_by_number(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return one < other ? -1 : one > other;
}

static bool is_kept(const struct cut_options *options, const struct tables *tables, uint32_t g)
{
	return g && g < tables->ngoroutines &&
	       bsearch(&tables->goids[g], options->goids, options->ngoids, sizeof(*options->goids),
		       filter_by_number);
}

static bool filter_become(struct op *op, unsigned kind)
{
	*op = (struct op){.kind = (uint8_t)kind, .time = op->time, .m = op->m, .p = op->p};
	return true;
}

/* A P in a system call of a goroutine that is not shown appears as running until its thread releases it. */
static bool filter_proc(const struct cut_options *options, const struct cut_state *state,
			const struct tables *tables, struct op *op)
{
	const struct ledger_p proc = ledger_p(&state->ledger, op->p);

	if (op->g && !is_kept(options, tables, op->g))
		op->g = NO_G;
	if (op->kind == OP_PROC_STATUS && (op->status == P_SYSCALL || op->status == P_ABANDONED))
		op->status = op->m ? P_RUNNING : P_IDLE;
	if (op->kind != OP_PROC_STEAL || proc.status == P_SYSCALL || proc.status == P_ABANDONED)
		return true;
	if (proc.status != P_RUNNING)
		return false;
	op->m = proc.m;
	return filter_become(op, OP_PROC_STOP);
}

/* Filters an op of a goroutine that is not shown. */
static bool filter_other(const struct cut_options *options, const struct cut_state *state,
			 const struct tables *tables, struct op *op)
{
	switch (op->kind) {
	case OP_GO_CREATE:
	case OP_GO_CREATE_BLOCKED:
	case OP_GO_UNBLOCK:
		op->g = NO_G;
		return is_kept(options, tables, op->g2);
	case OP_GO_DESTROY_SYSCALL:
		op->p = ledger_p_of(&state->ledger, op->m);
		return op->p != NO_P && filter_become(op, OP_PROC_STOP);
	case OP_HEAP_ALLOC:
	case OP_HEAP_GOAL:
		op->g = NO_G;
		return true;
	default:
		return false;
	}
}

/* The two goroutines of a coroutine switch are shown or hidden together (src/cli/cut_scope.c). */
bool cut_filter(const struct cut_options *options, const struct cut_state *state, const struct tables *tables,
		struct op *op)
{
	if (!options->goids)
		return true;
	switch (op->kind) {
	case OP_PROC_STATUS:
	case OP_PROC_START ... OP_PROC_STEAL:
		return filter_proc(options, state, tables, op);
	case OP_GC_ACTIVE ... OP_GC_SWEEP_END: /* begin and end may be of different goroutines */
		return false;
	case OP_GO_CREATE:
	case OP_GO_CREATE_BLOCKED:
	case OP_GO_UNBLOCK:
		if (!is_kept(options, tables, op->g2))
			return false;
		break;
	}
	return is_kept(options, tables, op->g) || filter_other(options, state, tables, op);
}
