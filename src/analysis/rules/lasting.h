/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Waits that last until the end of the trace: nothing has ended one of their place. */
#ifndef GOTRACE_ANALYSIS_RULES_LASTING_H
#define GOTRACE_ANALYSIS_RULES_LASTING_H

#include "analysis/state.h"

struct lasting { /* at one place */
	uint32_t stack;
	uint8_t activity;
	uint64_t n, least, most; /* ns */
};

/* How long a wait has to last, ns; longer than any in a trace of less than a second. */
uint64_t lasting_needed(const struct analysis *a);
/* Shorter waits began in the trace: until then, the program got on. */
bool lasting_throughout(const struct analysis *a, uint64_t ns);
/* Those who wait in the row; n = 0 if one of its waits has ended. */
struct lasting lasting_of_row(const struct analysis *a, const struct row *row);
/* The same line is reached in more ways than one: adds them to the `places` that were found. Returns false if
 * there is none of that line. */
bool lasting_add(const struct analysis *a, struct lasting *found, unsigned places, const struct lasting *one);

#endif
