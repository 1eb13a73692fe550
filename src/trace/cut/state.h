/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the state of the piece: the ledger, and the ranges that are open. */
#ifndef GOTRACE_TRACE_CUT_STATE_H
#define GOTRACE_TRACE_CUT_STATE_H

#include "trace/ledger/ledger.h"

/* The open ranges of a goroutine. */
struct cut_ranges {
	bool assists;
	uint8_t nstw; /* stop-the-worlds */
	uint8_t ends; /* their ends, counted backwards from the end of a piece */
};

struct cut_state {
	struct ledger ledger;
	struct cut_ranges *ranges; /* by goroutine index, as in ops */
	size_t nranges;            /* capacity */
	bool *sweeps;              /* by P */
	size_t nsweeps;            /* capacity */
	bool gc;
	uint32_t nstw; /* open stop-the-worlds */
};

void cut_state_free(struct cut_state *state);
/* Returns the ranges of a goroutine, added if needed. NULL if out of memory. */
struct cut_ranges *cut_ranges(struct cut_state *state, uint32_t g);
/* Applies an op to the state. Returns 0 or -ENOMEM. */
int cut_apply(struct cut_state *state, const struct op *op);

#endif
