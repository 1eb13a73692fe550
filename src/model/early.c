/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/early.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

int early_keep(struct early_records *early, const struct raw_record *records, size_t n)
{
	if (array_grow(&early->records, &early->capacity, early->n + n, sizeof(*early->records)))
		return -ENOMEM;
	memcpy(early->records + early->n, records, n * sizeof(*records));
	early->n += n;
	return 0;
}

static size_t aligned_size(const struct raw_text *text)
{
	return (sizeof(*text) + text->len + text->len2 + 7) & ~(size_t)7;
}

int early_keep_text(struct early_records *early, const struct raw_text *text)
{
	size_t size = aligned_size(text);

	if (array_grow(&early->texts, &early->texts_capacity, early->ntexts + size, 1))
		return -ENOMEM;
	memcpy(early->texts + early->ntexts, text, sizeof(*text) + text->len + text->len2);
	early->ntexts += size;
	return 0;
}

const struct raw_text *early_next_text(const struct early_records *early, size_t *at)
{
	const struct raw_text *text = (const struct raw_text *)(const void *)(early->texts + *at);

	*at += aligned_size(text);
	return text;
}

size_t early_find_marker(const struct early_records *early, uint32_t number, size_t otherwise)
{
	for (size_t i = 0; i < early->n; i++) {
		if (early->records[i].site == SITE_MARKER && early->records[i].arg == number)
			return i;
	}
	return otherwise;
}

void early_clear(struct early_records *early)
{
	early->n = 0;
	early->ntexts = 0;
}

void early_free(struct early_records *early)
{
	free(early->records);
	free(early->texts);
	*early = (struct early_records){0};
}
