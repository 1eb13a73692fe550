/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/suggest.h"

#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* d[i][j]: edits between the first i letters of a and the first j of b (optimal string alignment). */
unsigned edits_between(const char *a, const char *b)
{
	unsigned d[EDITS_LETTERS + 1][EDITS_LETTERS + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > EDITS_LETTERS || m > EDITS_LETTERS)
		return EDITS_LETTERS;
	for (size_t i = 0; i <= n; i++) {
		for (size_t j = 0; j <= m; j++) {
			if (!i || !j) {
				d[i][j] = (unsigned)(i + j);
				continue;
			}
			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
					d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[n][m];
}
