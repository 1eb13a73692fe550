/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Statistics of the whole program: scheduling latency, how busy its Ps were, garbage collection, number of
 * goroutines. They are computed from the ops, in order.
 */
#ifndef GOTRACE_MODEL_PROGRAM_STATS_H
#define GOTRACE_MODEL_PROGRAM_STATS_H

#include "model/model.h"

/* Durations by size: four buckets per power of two, so a bucket's end is at most 1.25 times its start. */
enum { LATENCY_BUCKETS = 256 };

struct latencies {
	uint64_t buckets[LATENCY_BUCKETS];
	uint64_t n, max_ns;
};

void latencies_add(struct latencies *all, uint64_t ns);
/* Returns the duration, ns, that a fraction `part` (0 to 1) of all does not exceed; 0 if there are none. */
uint64_t latencies_quantile(const struct latencies *all, double part);

struct p_time {
	uint64_t since, unwatched; /* ns: when it took its status; total unwatched time before that */
	uint8_t status;            /* enum p_status, 0 = it has not appeared */
};

struct program_state {
	struct program_stats stats;
	struct latencies latencies;
	struct p_time *ps; /* by id */
	size_t nps;
	uint64_t alive;     /* goroutines */
	bool started;       /* the statuses of the first generation have passed */
	uint64_t gc_since;  /* 0 = no cycle runs */
	uint64_t stw_since; /* 0 = the world runs */
};

void program_stats_free(struct program_state *program);
/* Takes one op. unwatched: total unwatched time before it, ns. Returns 0 or -ENOMEM. */
int program_stats_add(struct program_state *program, const struct op *op, uint64_t unwatched);
/* A goroutine appears or ends. */
void program_g_created(struct program_state *program);
void program_g_ended(struct program_state *program);
void program_stats_end(struct program_state *program, uint64_t now, uint64_t unwatched);

#endif
