/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The live line on the terminal. Without a terminal, nothing is written. */
#ifndef GOTRACE_WORKERS_SUMMARY_STATUS_H
#define GOTRACE_WORKERS_SUMMARY_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct status_line {
	bool shown; /* there is a terminal, and the line is wanted */
	uint64_t start_ns, last_ns;
	uint64_t last_events, last_cost_ns;
};

struct status_figures {
	uint64_t now_ns;
	uint64_t events, lost;
	uint64_t bytes;     /* of the file */
	uint64_t cost_ns;   /* of all hits so far */
	const char *detail; /* what is currently left out; "" = nothing */
};

void status_line_init(struct status_line *status, bool wanted, uint64_t now_ns);
/* Draws the line if the last one is at least a third of a second old. */
void status_line_update(struct status_line *status, const struct status_figures *figures);
unsigned status_line_width(void); /* columns of standard error; 80 if it is not a terminal */
void status_line_clear(const struct status_line *status);
/* Formats the line. Rates are over the time since the last one. */
void status_line_format(const struct status_line *status, const struct status_figures *figures, char *line,
			size_t size);

/* Drops the last figures that do not fit into `width` columns, because a wrapped line cannot be erased. */
void status_line_cut(char *line, unsigned width);

#endif
