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

int early_keep_texts(struct early_records *early, struct text_ids ids)
{
	if (array_grow(&early->texts, &early->texts_capacity, early->ntexts + 1, sizeof(*early->texts)))
		return -ENOMEM;
	early->texts[early->ntexts++] = ids;
	return 0;
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
