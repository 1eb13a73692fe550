/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/suggest.h"

#include <string.h>

enum { MAX_EDITS = 2 };

const char *suggest_name(const char *word, const char *const *names, size_t n)
{
	const char *best = NULL;
	unsigned edits = MAX_EDITS + 1;

	for (size_t i = 0; i < n; i++) {
		unsigned d = edits_between(word, names[i]);

		/* Two letters are most of a short word. */
		if (d >= edits || d >= strlen(names[i]) / 2 + 1)
			continue;
		edits = d;
		best = names[i];
	}
	return best;
}
