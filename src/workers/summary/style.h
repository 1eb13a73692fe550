/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The style of the summary as text. */
#ifndef GOTRACE_WORKERS_SUMMARY_STYLE_H
#define GOTRACE_WORKERS_SUMMARY_STYLE_H

#include <stdbool.h>
#include <stdint.h>

struct summary_style {
	bool stats;     /* adds figures about tracing itself, and more rows */
	uint8_t sort;   /* enum stat_order: order of the rows, also in JSON */
	uint16_t width; /* columns of the terminal; 0 = 80 */
};

/* Parses "running", "runnable", "blocked" or "count". Returns false for any other text. */
bool summary_sort_parse(const char *text, uint8_t *sort);

#endif
