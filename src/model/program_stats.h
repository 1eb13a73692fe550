/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Statistics of the whole program: scheduling latency, how busy its Ps were, garbage collection, number of
 * goroutines. What the runtime itself does in goroutines of its own is left out of latency and number.
 */
#ifndef GOTRACE_MODEL_PROGRAM_STATS_H
#define GOTRACE_MODEL_PROGRAM_STATS_H

#include "model/model.h"
#include "trace/ledger/ledger.h"
#include "util/histogram.h"

/* What lasts in the whole program; its time is watched time, ns. */
struct watched_range {
	bool open;
	uint64_t since;
};

struct program_state {
	struct program_stats stats;
	struct histogram latency;
	uint64_t alive;               /* goroutines */
	uint64_t procs_since;         /* ns of watched time: when GOMAXPROCS took its value */
	struct watched_range gc, stw; /* a cycle of the collector; the stopped world */
};

/* Takes one op. watched: how much of the trace's time before it was watched, ns. */
void program_step(struct program_state *program, const struct op *op, uint64_t watched);
/* A goroutine appears or ends. before: it existed when the trace began. */
void program_g_appears(struct program_state *program, bool before);
void program_g_ends(struct program_state *program);
/* A P had a status (enum p_status) for so long, ns, of which `unwatched` were not watched. */
void program_charge_p(struct program_state *program, uint8_t status, uint64_t ns, uint64_t unwatched);
/* The ledger is finished. */
void program_end(struct program_state *program, const struct ledger *ledger);

#endif
