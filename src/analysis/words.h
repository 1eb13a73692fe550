/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a report calls the parts of a program, by its kind. */
#ifndef GOTRACE_ANALYSIS_WORDS_H
#define GOTRACE_ANALYSIS_WORDS_H

#include "analysis/figures.h"

struct words {
	const char *one, *many;     /* what runs: a goroutine, a thread */
	const char *place, *places; /* where it runs: a P, a CPU */
	const char *most_places;    /* what their number is called */
	const char *cheaper;        /* option that records less */
	const char *which;          /* stands before an id: "g", "thread " */
	const char *option;         /* of gotrace why, for an id */
};

/* Returns the words for the program of a trace. They are constants. */
const struct words *words_of(const struct analysis *a);
/* "g7", "thread 7"; "g?" for a goroutine whose id was never seen. */
struct label label_who(const struct analysis *a, uint64_t goid);
struct label label_id(const struct analysis *a, uint64_t goid); /* the same, without "thread " */

#endif
