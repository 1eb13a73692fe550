/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How the summary for people is shown. */
#ifndef GOTRACE_REPORT_STYLE_H
#define GOTRACE_REPORT_STYLE_H

#include <stdbool.h>
#include <stdint.h>

struct summary_style {
	bool stats;     /* how it was watched, too, and more rows */
	uint8_t sort;   /* enum stat_order: by which the rows are sorted, also in JSON */
	uint16_t width; /* columns of the terminal; 0 = 80 */
};

/* "running", "runnable", "blocked" or "count"; false if text is none of them. */
bool summary_sort_parse(const char *text, uint8_t *sort);

#endif
