/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the order of a table's rows, the same in all outputs. */
#ifndef GOTRACE_ANALYSIS_ORDER_H
#define GOTRACE_ANALYSIS_ORDER_H

#include "analysis/state.h"

enum table {
	TABLE_GOROUTINES,
	TABLE_WAITS,
	TABLE_LOCKS,
	TABLE_SYSCALLS,
	TABLE_TASKS,
	TABLE_REGIONS,
	TABLE_LEAKS,
	TABLE_ASSISTS,
	TABLE_ADDRESSES, /* locks by address, if the trace has addresses */
	TABLE_LABELS,
	TABLE_CPU,
	TABLE_COUNT
};

/*
 * Returns the indices of the table's *n rows, heaviest first; the caller frees them. Returns NULL, and *n is
 * 0, when out of memory.
 */
uint32_t *order_table(const struct analysis *a, enum table table, enum report_sort sort, size_t *n);
/* Returns the row's pair with the most time; NULL if no waker is known. */
const struct pair *row_ended_by(const struct analysis *a, uint32_t row);
/* The wait is for a client that has nothing to say: reads and accepts of a server. */
bool row_is_idle(const struct analysis *a, const struct row *row);
const char *table_name(enum table table);

#endif
