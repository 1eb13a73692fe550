/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct kept_record {
	struct kept_record *next;
	uint32_t type, size;
	uint64_t data[];
};

int keep_record(void *ctx, const struct log_record *record)
{
	struct keep *keep = ctx;
	struct kept_record *kept = malloc(sizeof(*kept) + record->size);

	if (!kept)
		return -ENOMEM;
	kept->next = NULL;
	kept->type = record->type;
	kept->size = record->size;
	if (record->size)
		memcpy(kept->data, record->data, record->size);
	*(keep->last ? keep->last : &keep->first) = kept;
	keep->last = &kept->next;
	return 0;
}

int keep_replay(const struct keep *keep, log_sink sink, void *ctx)
{
	int rc = 0;

	for (const struct kept_record *kept = keep->first; kept && rc == 0; kept = kept->next) {
		struct log_record record = {.type = kept->type, .size = kept->size, .data = kept->data};

		rc = sink(ctx, &record);
	}
	return rc;
}

void keep_free(struct keep *keep)
{
	while (keep->first) {
		struct kept_record *next = keep->first->next;

		free(keep->first);
		keep->first = next;
	}
	keep->last = NULL;
}
