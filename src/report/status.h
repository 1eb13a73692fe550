/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The one live line on the terminal. Where there is no terminal, nothing is written. */
#ifndef GOTRACE_REPORT_STATUS_H
#define GOTRACE_REPORT_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct status {
	bool shown; /* there is a terminal, and the line is wanted */
	uint64_t start_ns, last_ns;
	uint64_t last_events;
};

struct status_figures {
	uint64_t now_ns;
	uint64_t events, lost;
	uint64_t bytes;   /* of the file */
	uint64_t hit_ns;  /* cost of a hit; 0 = not known */
	const char *look; /* what is not looked at now; "" = nothing is left out */
};

void status_init(struct status *status, bool wanted, uint64_t now_ns);
/* Draws the line if the last one is a third of a second old. */
void status_update(struct status *status, const struct status_figures *figures);
void status_clear(const struct status *status);
/* The text of the line; rates are over the time since the last one. */
void status_format(const struct status *status, const struct status_figures *figures, char *line,
		   size_t size);

#endif
