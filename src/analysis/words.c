/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/words.h"

#include <stdio.h>

#include "trace/ops/own_names.h"

const struct words *words_of(const struct analysis *a)
{
	static const struct words goroutines = {"goroutine",  "goroutines",     "P", "Ps",
						"GOMAXPROCS", "--detail=light", "g", "--goroutine"},
				  threads = {"thread", "threads",       "CPU",     "CPUs",
					     "CPUs",   "--no-syscalls", "thread ", "--thread"};

	return is_of_threads(a) ? &threads : &goroutines;
}

/* A made-up id says nothing to its reader. */
static struct label label_numbered(const char *which, uint64_t goid)
{
	struct label label = {"g?"};

	if (goid <= OWN_GOID)
		snprintf(label.text, sizeof(label.text), "%s%llu", which, (unsigned long long)goid);
	return label;
}

struct label label_who(const struct analysis *a, uint64_t goid)
{
	return label_numbered(words_of(a)->which, goid);
}

struct label label_id(const struct analysis *a, uint64_t goid)
{
	return label_numbered(is_of_threads(a) ? "" : "g", goid);
}
