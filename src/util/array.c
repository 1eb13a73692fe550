/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * There may be one array per goroutine, so the first allocation is small. Large arrays grow by a smaller
 * factor, because memory costs more than moving them (mremap).
 */
enum { FIRST_ITEMS = 4, MANY_ITEMS = 1 << 16 };

int array_grow(void *array, size_t *capacity, size_t want, size_t item_size)
{
	size_t count = *capacity ? *capacity : FIRST_ITEMS;
	char *items;

	if (want <= *capacity)
		return 0;
	if (want > SIZE_MAX / 4 / item_size)
		return -ENOMEM;
	while (count < want)
		count += count < MANY_ITEMS ? count : count / 4;
	/* The pointer's type is not void *, so it is copied, not cast. */
	memcpy(&items, array, sizeof(items));
	items = realloc(items, count * item_size);
	if (!items)
		return -ENOMEM;
	memset(items + *capacity * item_size, 0, (count - *capacity) * item_size);
	memcpy(array, &items, sizeof(items));
	*capacity = count;
	return 0;
}

size_t array_upto(const void *items, size_t n, size_t item_size, uint64_t key)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t found;

		memcpy(&found, (const char *)items + middle * item_size, sizeof(found));
		if (found <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
