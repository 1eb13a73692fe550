/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the rows of a table in the order in which all outputs show them. */
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
	TABLE_ADDRESSES, /* of locks; only in traces that have them */
	TABLE_LABELS,
	TABLE_COUNT
};

/* Indices of the table's rows, heaviest first, which the caller frees; NULL when there are none. */
uint32_t *order_table(const struct analysis *a, enum table table, enum report_sort sort, size_t *n);
/* The pair of a row that took the most time; NULL if no waker is known. */
const struct pair *row_ended_by(const struct analysis *a, uint32_t row);
const char *table_name(enum table table);

#endif
