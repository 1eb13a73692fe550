/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Intervals of goroutines in one activity, and the rows and pairs that count them. */
#ifndef GOTRACE_ANALYSIS_INTERVALS_H
#define GOTRACE_ANALYSIS_INTERVALS_H

#include "analysis/state.h"
#include "analysis/top.h"

/* While a gap is open, the goroutine is not watched; its activity begins when the gap ends. */
void interval_enter(struct analysis *a, struct goroutine *g, enum activity activity, uint32_t stack);
/* Counts the thread's last system call, which has ended: it makes another one, or the trace ends. */
void call_end(struct analysis *a, struct goroutine *g);
/* Whether the goroutine is in the tables: not gotrace's own, and with the label that was asked for. */
bool interval_counts(const struct analysis *a, const struct goroutine *g);
void interval_leave(struct analysis *a, struct goroutine *g, const struct goroutine *waker,
		    uint32_t waker_stack, bool cut_end);
/* Adds what a goroutine did in [from, to) to spent and, if not NULL, by stack to did. */
void interval_meanwhile(const struct analysis *a, const struct goroutine *g, uint64_t from, uint64_t to,
			uint64_t spent[ACT_COUNT], struct top did[TOPS]);
/*
 * A goroutine that runs has lost its CPU, or has one again: what it did meanwhile is that it wanted one. Its
 * state remains the same.
 */
void interval_lost_cpu(struct analysis *a, struct goroutine *g, bool lost);
struct row *row_get(struct analysis *a, enum activity activity, uint32_t stack);
struct pair *pair_get(struct analysis *a, const struct row *row, uint32_t stack);

#endif
