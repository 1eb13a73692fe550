/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/cut/state.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

void cut_state_free(struct cut_state *state)
{
	ledger_free(&state->ledger);
	free(state->ranges);
	free(state->sweeps);
}

struct cut_ranges *cut_ranges(struct cut_state *state, uint32_t g)
{
	if (array_grow(&state->ranges, &state->nranges, (size_t)g + 1, sizeof(*state->ranges)))
		return NULL;
	return &state->ranges[g];
}

static int set_sweep(struct cut_state *state, int32_t p, bool sweeps)
{
	if (p < 0)
		return 0;
	if (array_grow(&state->sweeps, &state->nsweeps, (size_t)p + 1, sizeof(*state->sweeps)))
		return -ENOMEM;
	state->sweeps[p] = sweeps;
	return 0;
}

static int range_step(struct cut_state *state, const struct op *op)
{
	struct cut_ranges *g = cut_ranges(state, op->g);

	if (!g)
		return -ENOMEM;
	switch (op->kind) {
	case OP_STW_BEGIN:
		g->nstw++;
		state->nstw++;
		break;
	case OP_STW_END:
		g->nstw -= g->nstw > 0;
		state->nstw -= state->nstw > 0;
		break;
	case OP_GC_ACTIVE:
	case OP_GC_BEGIN:
		state->gc = true;
		break;
	case OP_GC_END:
		state->gc = false;
		break;
	case OP_GC_ASSIST_ACTIVE:
	case OP_GC_ASSIST_BEGIN:
	case OP_GC_ASSIST_END:
		g->assists = op->kind != OP_GC_ASSIST_END;
		break;
	default:
		return set_sweep(state, op->p, op->kind != OP_GC_SWEEP_END);
	}
	return 0;
}

/*
 * A goroutine is created: what is known of ranges is of the one before. A status keeps an assist: a native
 * trace may state it earlier (cut.c).
 */
static void state_begin_life(struct cut_state *state, const struct op *op)
{
	uint32_t g = op_other(op);

	if (g < state->nranges)
		state->ranges[g] = (struct cut_ranges){.assists = state->ranges[g].assists};
}

int cut_apply(struct cut_state *state, const struct op *op)
{
	if (op_is_creation(op->kind) || op->kind == OP_GO_STATUS)
		state_begin_life(state, op);
	if (op->kind >= OP_STW_BEGIN && op->kind <= OP_GC_ASSIST_END)
		return range_step(state, op);
	return ledger_step(&state->ledger, op);
}
