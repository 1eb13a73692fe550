/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Waits that last until the end of the trace, at places where no wait has ended. */
#ifndef GOTRACE_ANALYSIS_RULES_LASTING_H
#define GOTRACE_ANALYSIS_RULES_LASTING_H

#include "analysis/state.h"

struct lasting { /* at one place */
	uint32_t stack;
	uint8_t activity;
	uint64_t n, least, most, sum; /* the last three in ns */
};

/* The shortest wait that counts, in ns; UINT64_MAX in a trace of less than a second. */
uint64_t lasting_needed(const struct analysis *a);
/* Whether a wait of ns began before the trace. The program got on until shorter ones began. */
bool lasting_throughout(const struct analysis *a, uint64_t ns);
/* Returns the waits of the row; n = 0 if one of them has ended. */
struct lasting lasting_of_row(const struct analysis *a, const struct row *row);
/* Adds *one to that of the `places` which has the same source line: several stacks lead to a line. Returns
 * false if there is none. */
bool lasting_add(const struct analysis *a, struct lasting *found, unsigned places, const struct lasting *one);

#endif
