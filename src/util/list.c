/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/list.h"

#include <stdlib.h>

enum { FIRST = 4 };

bool list_grow(void **items, unsigned n, unsigned *capacity, size_t each)
{
	unsigned more = *capacity ? *capacity * 2 : FIRST;
	void *bigger;

	if (n < *capacity)
		return true;
	bigger = realloc(*items, more * each);
	if (!bigger)
		return false;
	*items = bigger;
	*capacity = more;
	return true;
}
