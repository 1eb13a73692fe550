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
/* Rows that look the same to a reader, in one line: callers of one place, threads with names of their own.
 */
struct row_line {
	struct row row;    /* the heaviest one's, with the figures of all; hist is its own */
	uint32_t heaviest; /* index of that row */
	uint64_t weight;
};

/*
 * The same for a table of rows. `looks` returns a hash of what the line shows but figures. The caller frees
 * the lines with row_lines_free(). Returns NULL, and *n is 0, when out of memory.
 */
struct row_line *order_row_lines(const struct analysis *a, enum table table, enum report_sort sort,
				 uint64_t (*looks)(const void *ctx, const struct row *row), const void *ctx,
				 size_t *n);
void row_lines_free(struct row_line *lines, size_t n);
/* Returns the row's pair with the most time; NULL if no waker is known. */
const struct pair *row_ended_by(const struct analysis *a, uint32_t row);
/* The wait is for a client that has nothing to say: reads and accepts of a server. */
bool row_is_idle(const struct analysis *a, const struct row *row);
const char *table_name(enum table table);

#endif
