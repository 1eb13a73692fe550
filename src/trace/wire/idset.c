/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/wire/idset.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/wire/buffer.h"

enum { WORD_BITS = 64, PAGE_BITS = WORD_BITS * IDSET_WORDS };

static uint64_t *page_of(struct idset *set, uint64_t id)
{
	const uint32_t *known = map64_get(&set->pages, id / PAGE_BITS + 1);

	if (known)
		return set->bits[*known];
	if (set->npages == UINT32_MAX ||
	    array_grow((void **)&set->bits, &set->capacity, set->npages + 1, sizeof(*set->bits)) ||
	    map64_set(&set->pages, id / PAGE_BITS + 1, (uint32_t)set->npages))
		return NULL;
	return set->bits[set->npages++];
}

int idset_add(struct idset *set, uint64_t id)
{
	uint64_t *page = page_of(set, id), *word, bit = 1ull << id % WORD_BITS;

	if (!page)
		return -ENOMEM;
	word = &page[id % PAGE_BITS / WORD_BITS];
	if (*word & bit)
		return 1;
	*word |= bit;
	return 0;
}

void idset_free(struct idset *set)
{
	map64_free(&set->pages);
	free(set->bits);
	*set = (struct idset){0};
}
